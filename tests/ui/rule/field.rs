use kindsmith::ApiType;
use serde::{Deserialize, Serialize};

/// A field of the error is declared.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
#[api(rule = "self.low <= self.high", field = lo)]
pub struct BookSpec {
    pub low: i32,
    pub high: i32,
}

fn main() {}
