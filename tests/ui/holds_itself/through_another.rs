use kindsmith::ApiType;
use serde::{Deserialize, Serialize};

#[derive(ApiType, Serialize, Deserialize)]
struct Shelf {
    boxes: Vec<Carton>,
}

#[derive(ApiType, Serialize, Deserialize)]
struct Carton {
    shelves: Vec<Shelf>,
}

fn main() {}
