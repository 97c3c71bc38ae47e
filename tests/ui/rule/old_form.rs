use kindsmith::ApiType;
use serde::{Deserialize, Serialize};

/// A rule is the value of its argument.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
#[api(rule("self.low <= self.high"))]
pub struct BookSpec {
    pub low: i32,
    pub high: i32,
}

fn main() {}
