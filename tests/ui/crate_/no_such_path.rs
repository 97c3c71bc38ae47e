use kindsmith::{ApiType, ObjectMeta, Resource};
use serde::{Deserialize, Serialize};

#[derive(Resource)]
#[resource(crate = platform::kinds, group = "library.example.com", version = "v1")]
struct Book {
    metadata: ObjectMeta,
    spec: BookSpec,
}

#[derive(ApiType, Serialize, Deserialize)]
#[api(crate = kinds)]
struct BookSpec {
    author: String,
}

fn main() {}
