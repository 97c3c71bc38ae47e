use kindsmith::ApiType;

#[derive(ApiType)]
struct BookSpec {
    #[serde(renam = "writer")]
    author: String,
}

fn main() {}
