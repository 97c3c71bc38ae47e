use kindsmith::ApiType;

#[derive(ApiType)]
struct BookSpec {
    #[serde(rename(serialize = "a", deserialize = "b"))]
    author: String,
}

fn main() {}
