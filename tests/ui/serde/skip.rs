use kindsmith::ApiType;

#[derive(ApiType)]
struct BookSpec {
    #[serde(skip)]
    author: String,
}

fn main() {}
