use kindsmith::{ApiType, ObjectMeta, Resource};
use serde::{Deserialize, Serialize};

#[derive(Resource)]
#[resource(group = "library.example.com", version = "v1", unstored, status, create_on_update, grace_seconds = 30, selectable(status.copies))]
struct Book {
    metadata: ObjectMeta,
    status: Option<BookStatus>,
}

#[derive(ApiType, Serialize, Deserialize)]
struct BookStatus {
    copies: i32,
}

fn main() {}
