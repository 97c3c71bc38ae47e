use kindsmith::{ObjectMeta, Resource};

#[derive(Resource)]
#[resource(group = "library.example.com", version = "v1", update_without_version = true)]
struct Book {
    metadata: ObjectMeta,
}

fn main() {}
