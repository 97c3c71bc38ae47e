use kindsmith::ApiType;

#[derive(ApiType)]
struct BookSpec {
    #[serde(rename = "日本")]
    title: String,
    #[serde(rename = "Été")]
    summer: String,
}

fn main() {}
