use kindsmith::ApiType;

#[derive(ApiType)]
struct BookSpec {
    #[serde(serialize_with = "f")]
    author: String,
}

fn main() {}
