use kindsmith::{ObjectMeta, Resource};

#[derive(Resource)]
#[resource(group = "Library.Example.com", version = "v1")]
struct Book {
    metadata: ObjectMeta,
}

fn main() {}
