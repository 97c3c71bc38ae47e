use kindsmith::{ObjectMeta, Resource};

#[derive(Resource)]
#[resource(group = "library.example.com", version = "v1")]
struct BookList {
    metadata: ObjectMeta,
}

fn main() {}
