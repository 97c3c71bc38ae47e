use kindsmith::{ObjectMeta, Resource};

#[derive(Resource, serde::Serialize)]
#[resource(group = "library.example.com", version = "v1")]
struct Book {
    metadata: ObjectMeta,
}

fn main() {}
