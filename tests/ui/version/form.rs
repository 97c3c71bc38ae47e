use kindsmith::{ObjectMeta, Resource};

#[derive(Resource)]
#[resource(group = "library.example.com", version = "1.0")]
struct Book {
    metadata: ObjectMeta,
}

fn main() {}
