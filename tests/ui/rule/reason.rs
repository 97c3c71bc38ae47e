use kindsmith::ApiType;
use serde::{Deserialize, Serialize};

/// A reason is one of four.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
#[api(rule = "self.low <= self.high", reason = FieldValueForbiden)]
pub struct BookSpec {
    pub low: i32,
    pub high: i32,
}

fn main() {}
