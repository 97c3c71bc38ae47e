use kindsmith::ApiType;

#[derive(ApiType)]
enum Color {
    Red,
    #[serde(rename = "Red")]
    Crimson,
}

fn main() {}
