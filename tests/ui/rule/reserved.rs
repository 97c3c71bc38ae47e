use kindsmith::ApiType;
use serde::{Deserialize, Serialize};

/// Reserved words are no variables.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
#[api(rule = "self.low <= self.high && namespace != ''")]
pub struct BookSpec {
    pub low: i32,
    pub high: i32,
}

fn main() {}
