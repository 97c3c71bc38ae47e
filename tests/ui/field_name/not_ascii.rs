use kindsmith::ApiType;

#[derive(ApiType)]
struct BookSpec {
    #[serde(rename = "Été")]
    title: String,
}

fn main() {}
