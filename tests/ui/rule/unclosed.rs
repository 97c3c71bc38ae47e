use kindsmith::ApiType;
use serde::{Deserialize, Serialize};

/// A parenthesis is missing.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
#[api(rule = "self.low <= self.high && (self.low > 0")]
pub struct BookSpec {
    pub low: i32,
    pub high: i32,
}

fn main() {}
