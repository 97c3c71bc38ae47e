use kindsmith::ApiType;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
struct Shelf;

#[derive(ApiType, Serialize, Deserialize)]
struct BookSpec {
    shelf: Shelf,
}

fn main() {}
