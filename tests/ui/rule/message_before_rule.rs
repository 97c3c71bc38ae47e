use kindsmith::ApiType;
use serde::{Deserialize, Serialize};

/// What is said of a rule follows it.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
#[api(message = "low is at most high", rule = "self.low <= self.high")]
pub struct BookSpec {
    pub low: i32,
    pub high: i32,
}

fn main() {}
