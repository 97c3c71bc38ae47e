use kindsmith::ApiType;
use serde::{Deserialize, Serialize};

#[derive(ApiType, Serialize, Deserialize)]
#[api(proto = "lock/v1.proto")]
struct BookSpec {
    cover: Option<Cover>,
    genre: Option<Genre>,
}

#[derive(ApiType, Serialize, Deserialize)]
enum Cover {
    Hard,
    Soft,
}

#[derive(ApiType, Serialize, Deserialize)]
struct Genre {
    #[api(proto = 1)]
    name: String,
}

fn main() {}
