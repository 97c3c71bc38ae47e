use kindsmith::ApiType;

#[derive(ApiType)]
struct BookSpec {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tags: Vec<String>,
}

fn main() {}
