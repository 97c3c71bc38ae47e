use kindsmith::ApiType;

#[derive(ApiType)]
struct BookSpec {
    #[api(pattern = "^(?!draft).*$")]
    author: String,
}

fn main() {}
