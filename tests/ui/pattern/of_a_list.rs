use kindsmith::ApiType;

#[derive(ApiType)]
struct BookSpec {
    #[api(pattern = "[a-z]+")]
    authors: Vec<String>,
}

fn main() {}
