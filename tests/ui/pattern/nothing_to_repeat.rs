use kindsmith::ApiType;

#[derive(ApiType)]
struct BookSpec {
    #[api(pattern = "*a")]
    author: String,
}

fn main() {}
