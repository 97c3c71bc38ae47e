use kindsmith::ApiType;

#[derive(ApiType)]
struct BookSpec {
    #[api(proto = 19000)]
    author: String,
}

fn main() {}
