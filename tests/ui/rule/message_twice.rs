use kindsmith::ApiType;
use serde::{Deserialize, Serialize};

/// A rule has one message.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
#[api(rule = "self.low <= self.high", message = "one", message = "two")]
pub struct BookSpec {
    pub low: i32,
    pub high: i32,
}

fn main() {}
