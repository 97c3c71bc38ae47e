use kindsmith::ApiType;

#[derive(ApiType)]
struct BookSpec {
    #[api(proto = 0)]
    author: String,
}

fn main() {}
