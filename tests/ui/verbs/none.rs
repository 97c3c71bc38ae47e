use kindsmith::{ObjectMeta, Resource};

#[derive(Resource)]
#[resource(group = "library.example.com", version = "v1", verbs())]
struct Book {
    metadata: ObjectMeta,
}

fn main() {}
