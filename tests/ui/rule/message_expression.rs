use kindsmith::ApiType;
use serde::{Deserialize, Serialize};

/// The expression of a message is parsed, too.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
#[api(rule = "self.low <= self.high", message_expression = "'low: ' + ")]
pub struct BookSpec {
    pub low: i32,
    pub high: i32,
}

fn main() {}
