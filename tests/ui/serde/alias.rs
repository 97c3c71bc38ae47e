use kindsmith::ApiType;

#[derive(ApiType)]
struct BookSpec {
    #[serde(alias = "writer")]
    author: String,
}

fn main() {}
