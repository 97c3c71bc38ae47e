use kindsmith::ApiType;
use serde::{Deserialize, Serialize};

/// A loop needs a variable.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
#[api(rule = "[1, 2].all(self.low, self.low > 0)")]
pub struct BookSpec {
    pub low: i32,
    pub high: i32,
}

fn main() {}
