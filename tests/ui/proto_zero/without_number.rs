use kindsmith::ApiType;

#[derive(ApiType)]
struct BookSpec {
    #[api(proto_zero)]
    author: Option<String>,
}

fn main() {}
