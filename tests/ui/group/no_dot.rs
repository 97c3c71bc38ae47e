use kindsmith::{ObjectMeta, Resource};

#[derive(Resource)]
#[resource(group = "library", version = "v1")]
struct Book {
    metadata: ObjectMeta,
}

fn main() {}
