use kindsmith::ApiType;
use serde::{Deserialize, Serialize};

/// A rule of several lines has a message.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
#[api(rule = "self.low <= self.high\n|| self.low == 0")]
pub struct BookSpec {
    pub low: i32,
    pub high: i32,
}

fn main() {}
