use kindsmith::{ObjectMeta, Resource};

#[derive(Resource)]
#[resource(group = "library.example.com", version = "v1", namespaced, cluster)]
struct Book {
    metadata: ObjectMeta,
}

fn main() {}
