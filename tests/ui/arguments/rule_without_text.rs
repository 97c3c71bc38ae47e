use kindsmith::ApiType;
use serde::{Deserialize, Serialize};

/// A rule begins with its expression.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
#[api(rule(message = "low is at most high"))]
pub struct BookSpec {
    pub low: i32,
    pub high: i32,
}

fn main() {}
