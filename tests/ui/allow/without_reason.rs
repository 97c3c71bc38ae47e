use kindsmith::{ObjectMeta, Resource};

#[derive(Resource)]
#[resource(group = "library.example.com", version = "v1", plural = "book", allow(plural = " "))]
struct Book {
    metadata: ObjectMeta,
}

fn main() {}
