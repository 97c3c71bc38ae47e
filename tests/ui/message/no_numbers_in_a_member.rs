use kindsmith::{ApiType, Message};
use serde::{Deserialize, Serialize};

#[derive(ApiType, Message, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
enum Probe {
    #[api(proto = 1)]
    Path(String),
    #[api(proto = 2)]
    Http { path: String, port: Option<i32> },
}

fn main() {}
