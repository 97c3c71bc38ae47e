use kindsmith::ApiType;
use serde::{Deserialize, Serialize};

type Count = i32;

#[derive(ApiType, Serialize, Deserialize)]
struct BookSpec {
    #[api(min_length = 1)]
    copies: Count,
}

fn main() {}
