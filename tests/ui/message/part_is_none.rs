use kindsmith::{ApiType, Message};
use serde::{Deserialize, Serialize};

#[derive(ApiType, Serialize, Deserialize)]
struct Chapter {
    #[api(proto = 1)]
    name: String,
}

#[derive(ApiType, Message, Serialize, Deserialize)]
struct BookSpec {
    #[api(proto = 1)]
    chapters: Vec<Chapter>,
}

fn main() {}
