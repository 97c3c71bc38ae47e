use kindsmith::ApiType;
use serde::{Deserialize, Serialize};

#[derive(ApiType, Serialize, Deserialize)]
#[api(proto = "lock/v1.proto")]
struct BookSpec {
    author: Vec<String>,
    pages: Option<i64>,
    chapters: Vec<String>,
    cover: Option<Chapter>,
}

#[derive(ApiType, Serialize, Deserialize)]
#[api(proto = "lock/v1.proto")]
struct Chapter {
    name: String,
}

fn main() {}
