use kindsmith::{ObjectMeta, Resource};

/// The result of a JSONPath has no type in Rust.
#[derive(Resource, Clone, Debug)]
#[resource(group = "library.example.com", version = "v1", column("Author", json_path = ".spec.author"))]
pub struct Book {
    pub metadata: ObjectMeta,
}

fn main() {}
