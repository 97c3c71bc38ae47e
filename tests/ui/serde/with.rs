use kindsmith::ApiType;

#[derive(ApiType)]
struct BookSpec {
    #[serde(with = "module")]
    author: String,
}

fn main() {}
