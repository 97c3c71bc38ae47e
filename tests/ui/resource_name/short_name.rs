use kindsmith::{ObjectMeta, Resource};

#[derive(Resource)]
#[resource(group = "library.example.com", version = "v1", shortnames("bk", "BOOK!"))]
struct Book {
    metadata: ObjectMeta,
}

fn main() {}
