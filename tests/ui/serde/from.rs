use kindsmith::ApiType;

#[derive(ApiType)]
#[serde(try_from = "String")]
struct BookSpec {
    author: String,
}

fn main() {}
