use kindsmith::ApiType;
use serde::{Deserialize, Serialize};

#[derive(ApiType, Serialize, Deserialize)]
enum Color {
    Red,
    Green,
}

#[derive(ApiType, Serialize, Deserialize)]
struct BookSpec {
    #[api(default = Color::Red)]
    color: String,
}

fn main() {}
