use kindsmith::ApiType;
use serde::{Deserialize, Serialize};

#[derive(ApiType, Serialize, Deserialize)]
#[api(proto = "lock/v1.proto")]
struct BookSpec {
    chapters: Vec<Chapter>,
}

#[derive(ApiType, Serialize, Deserialize)]
struct Chapter {
    name: String,
}

fn main() {}
