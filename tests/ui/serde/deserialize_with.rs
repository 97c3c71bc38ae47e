use kindsmith::ApiType;

#[derive(ApiType)]
struct BookSpec {
    #[serde(deserialize_with = "f")]
    author: String,
}

fn main() {}
