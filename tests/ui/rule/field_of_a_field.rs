use kindsmith::ApiType;
use serde::{Deserialize, Serialize};

/// A rule on a field names fields of its type.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
pub struct BookSpec {
    #[api(rule = "self.low <= self.high", field = hi)]
    pub range: Range,
}

/// A range.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
pub struct Range {
    pub low: i32,
    pub high: i32,
}

fn main() {}
