use kindsmith::{ObjectMeta, Resource};

#[derive(Resource)]
#[resource(group = "library.example.com", version = "v1", clustr)]
struct Book {
    metadata: ObjectMeta,
}

fn main() {}
