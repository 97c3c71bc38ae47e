use kindsmith::ApiType;
use serde::{Deserialize, Serialize};

/// A rule says something.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
#[api(rule = " ")]
pub struct BookSpec {
    pub low: i32,
    pub high: i32,
}

fn main() {}
