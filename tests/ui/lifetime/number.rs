use kindsmith::{ApiType, ObjectMeta, Resource};
use serde::{Deserialize, Serialize};

#[derive(Resource)]
#[resource(group = "library.example.com", version = "v1", lifetime = 3600)]
struct Book {
    metadata: ObjectMeta,
    spec: BookSpec,
}

#[derive(ApiType, Serialize, Deserialize)]
struct BookSpec {
    author: String,
}

fn main() {}
