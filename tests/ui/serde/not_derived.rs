use kindsmith::{ApiType, ObjectMeta, Resource};

#[derive(Resource)]
#[resource(group = "library.example.com", version = "v1")]
struct Book {
    metadata: ObjectMeta,
    spec: BookSpec,
}

#[derive(ApiType)]
struct BookSpec {
    author: String,
}

fn main() {}
