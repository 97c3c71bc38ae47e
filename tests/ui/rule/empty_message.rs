use kindsmith::ApiType;
use serde::{Deserialize, Serialize};

/// A message says something.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
#[api(rule = "self.low <= self.high", message = "")]
pub struct BookSpec {
    pub low: i32,
    pub high: i32,
}

fn main() {}
