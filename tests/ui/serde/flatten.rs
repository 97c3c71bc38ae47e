use kindsmith::ApiType;

#[derive(ApiType)]
struct BookSpec {
    #[serde(flatten)]
    author: String,
}

fn main() {}
