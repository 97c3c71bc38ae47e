use kindsmith::ApiType;

#[derive(ApiType)]
#[serde(transparent)]
struct BookSpec {
    author: String,
}

fn main() {}
