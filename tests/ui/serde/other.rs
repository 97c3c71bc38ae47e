use kindsmith::ApiType;

#[derive(ApiType)]
enum Color {
    Red,
    #[serde(other)]
    Unknown,
}

fn main() {}
