use kindsmith::{ApiType, Condition};

#[derive(ApiType)]
#[serde(rename_all = "camelCase")]
struct BookStatus {
    conditions: Vec<Condition>,
}

fn main() {}
