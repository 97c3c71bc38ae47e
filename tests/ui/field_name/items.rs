use kindsmith::{ObjectMeta, Resource};

#[derive(Resource)]
#[resource(group = "library.example.com", version = "v1")]
struct Book {
    metadata: ObjectMeta,
    items: Vec<String>,
}

fn main() {}
