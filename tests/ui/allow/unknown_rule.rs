use kindsmith::{ObjectMeta, Resource};

#[derive(Resource)]
#[resource(group = "library.example.com", version = "v1", allow(plurals = "One word"))]
struct Book {
    metadata: ObjectMeta,
}

fn main() {}
