use kindsmith::ApiType;

#[derive(ApiType)]
struct BookSpec {
    author: String,
    #[serde(rename = "author")]
    writer: String,
}

fn main() {}
