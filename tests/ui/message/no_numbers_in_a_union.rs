use kindsmith::{ApiType, Message};

#[derive(ApiType, Message)]
#[serde(rename_all = "camelCase")]
enum Probe {
    Path(String),
    Port(i32),
}

fn main() {}
