use kindsmith::ApiType;
use serde::{Deserialize, Serialize};

#[derive(ApiType, Serialize, Deserialize)]
struct BookCondition {
    #[serde(rename = "type")]
    kind: String,
    status: bool,
}

fn main() {}
