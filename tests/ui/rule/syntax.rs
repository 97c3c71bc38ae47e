use kindsmith::ApiType;
use serde::{Deserialize, Serialize};

/// The error shows the place inside the expression.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
#[api(rule = "self.low <= ", message = "low is at most high")]
pub struct BookSpec {
    pub low: i32,
    pub high: i32,
}

fn main() {}
