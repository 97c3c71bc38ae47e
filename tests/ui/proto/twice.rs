use kindsmith::ApiType;

#[derive(ApiType)]
struct BookSpec {
    #[api(proto = 1)]
    author: String,
    #[api(proto = 1)]
    copies: i32,
}

fn main() {}
