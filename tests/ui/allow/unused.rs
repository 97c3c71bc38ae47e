use kindsmith::{ObjectMeta, Resource};

#[derive(Resource)]
#[resource(group = "library.example.com", version = "v1", allow(group = "It is ours"))]
struct Book {
    metadata: ObjectMeta,
}

fn main() {}
