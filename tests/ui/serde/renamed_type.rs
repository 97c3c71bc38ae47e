use kindsmith::ApiType;

#[derive(ApiType)]
#[serde(rename = "Spec")]
struct BookSpec {
    author: String,
}

fn main() {}
