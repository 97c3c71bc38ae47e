use kindsmith::ApiType;
use serde::{Deserialize, Serialize};

/// Messages of errors are one line.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
#[api(rule = "self.low <= self.high", message = "low is\nat most high")]
pub struct BookSpec {
    pub low: i32,
    pub high: i32,
}

fn main() {}
