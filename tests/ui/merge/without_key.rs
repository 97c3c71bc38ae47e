use kindsmith::ApiType;
use serde::{Deserialize, Serialize};

#[derive(ApiType, Serialize, Deserialize)]
struct Chapter {
    name: String,
    page: Option<i32>,
    #[serde(default)]
    part: String,
}

#[derive(ApiType, Serialize, Deserialize)]
struct BookSpec {
    #[api(merge)]
    chapters: Vec<Chapter>,
}

fn main() {}
