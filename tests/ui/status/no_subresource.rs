use kindsmith::{ApiType, ObjectMeta, Resource};
use serde::{Deserialize, Serialize};

#[derive(Resource)]
#[resource(group = "library.example.com", version = "v1")]
struct Book {
    metadata: ObjectMeta,
    status: Option<BookStatus>,
}

#[derive(ApiType, Serialize, Deserialize)]
struct BookStatus {
    copies: i32,
}

fn main() {}
