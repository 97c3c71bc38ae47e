use kindsmith::{ApiType, ObjectMeta, Resource};
use serde::{Deserialize, Serialize};

#[derive(Resource)]
#[resource(group = "library.example.com", version = "v1", status)]
#[resource(column("Author", path = spec.))]
struct Book {
    metadata: ObjectMeta,
    spec: BookSpec,
    status: Option<BookStatus>,
}

#[derive(ApiType, Serialize, Deserialize)]
struct BookSpec {
    author: String,
    tags: Vec<String>,
    copies: Option<i32>,
}

#[derive(ApiType, Serialize, Deserialize)]
struct BookStatus {
    phase: Option<String>,
    copies: i32,
}

fn main() {}
