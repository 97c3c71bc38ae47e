use kindsmith::{ApiType, ObjectMeta, Resource};
use serde::{Deserialize, Serialize};

#[derive(Resource)]
#[resource(group = "library.example.com", version = "v1")]
struct Book {
    metadata: ObjectMeta,
    spec: BookSpec,
}

#[derive(ApiType, Serialize, Deserialize)]
struct BookSpec {
    author: String,
    copies: Option<i32>,
}

#[derive(Resource)]
#[resource(version = "v1", storage = Book)]
struct OldBook {
    metadata: ObjectMeta,
    spec: OldBookSpec,
}

#[derive(ApiType, Serialize, Deserialize)]
struct OldBookSpec {
    writer: String,
    note: Option<String>,
}

#[derive(Resource)]
#[resource(group = "library.example.com", version = "v2", storage = Book)]
struct NewBook {
    metadata: ObjectMeta,
    spec: OldBookSpec,
}

fn main() {}
