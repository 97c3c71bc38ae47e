use kindsmith::{ObjectMeta, Resource};

#[derive(Resource)]
#[resource(group = "library.example.com", version = "v1", list_kind = "Books")]
struct Book {
    metadata: ObjectMeta,
}

fn main() {}
