use kindsmith::{ObjectMeta, Resource};

#[derive(Resource)]
#[resource(group = "", version = "v1")]
struct Book {
    metadata: ObjectMeta,
}

fn main() {}
