use kindsmith::ApiType;

#[derive(ApiType)]
struct BookSpec {
    #[api(pattern = "(a|b")]
    author: String,
}

fn main() {}
