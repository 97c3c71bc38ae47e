use std::collections::BTreeMap;

use kindsmith::ApiType;

#[derive(ApiType)]
#[serde(rename_all = "camelCase")]
struct BookStatus {
    conditions: BTreeMap<String, String>,
}

fn main() {}
