use kindsmith::{ObjectMeta, Resource};

#[derive(Resource)]
#[resource(group = "library.example.com", version = "v1", kind = "book_copy")]
struct Book {
    metadata: ObjectMeta,
}

fn main() {}
