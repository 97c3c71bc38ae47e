use kindsmith::{ObjectMeta, Resource};

#[derive(Resource)]
#[resource(version = "v1")]
struct Book {
    metadata: ObjectMeta,
}

fn main() {}
