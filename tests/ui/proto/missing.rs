use kindsmith::ApiType;

#[derive(ApiType)]
struct BookSpec {
    #[api(proto = 1)]
    author: String,
    copies: i32,
}

fn main() {}
