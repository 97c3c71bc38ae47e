use kindsmith::ApiType;

#[derive(ApiType)]
struct BookSpec {
    #[serde(skip_deserializing)]
    author: String,
}

fn main() {}
