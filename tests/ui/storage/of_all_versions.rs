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
#[resource(version = "v1beta1", kind = "Book", storage = Book, shortname = "bk", cluster, grace_seconds = 5)]
struct OldBook {
    metadata: ObjectMeta,
    spec: OldBookSpec,
}

#[derive(ApiType, Serialize, Deserialize)]
struct OldBookSpec {
    writer: String,
    note: Option<String>,
}

fn main() {}
