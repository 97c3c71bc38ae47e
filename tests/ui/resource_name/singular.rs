use kindsmith::{ObjectMeta, Resource};

#[derive(Resource)]
#[resource(group = "library.example.com", version = "v1", singular = "a book")]
struct Book {
    metadata: ObjectMeta,
}

fn main() {}
