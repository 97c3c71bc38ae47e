use kindsmith::{ApiType, Message};
use serde::{Deserialize, Serialize};

#[derive(ApiType, Message, Serialize, Deserialize)]
struct BookSpec {
    author: String,
    copies: i32,
}

fn main() {}
