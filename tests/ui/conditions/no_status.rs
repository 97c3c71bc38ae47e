use kindsmith::ApiType;
use serde::{Deserialize, Serialize};

#[derive(ApiType, Serialize, Deserialize)]
struct BookStatus {
    #[api(list = map(key = kind))]
    conditions: Vec<BookCondition>,
}

#[derive(ApiType, Serialize, Deserialize)]
struct BookCondition {
    #[serde(rename = "type")]
    kind: String,
    holds: bool,
}

fn main() {}
