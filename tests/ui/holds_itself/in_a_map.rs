use std::collections::BTreeMap;

use kindsmith::ApiType;

#[derive(ApiType)]
struct Shelf {
    parts: BTreeMap<String, Vec<Shelf>>,
}

fn main() {}
