use kindsmith::ApiType;
use serde::{Deserialize, Serialize};

#[derive(ApiType, Serialize, Deserialize)]
#[api(crate = serde)]
struct BookSpec {
    author: String,
}

fn main() {}
