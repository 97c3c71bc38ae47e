use kindsmith::{ApiType, Message};
use serde::{Deserialize, Serialize};

#[derive(ApiType, Message, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Probe {
    Path(String),
    Port(i32),
}

fn main() {}
