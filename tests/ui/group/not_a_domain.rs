use kindsmith::{ObjectMeta, Resource};

#[derive(Resource)]
#[resource(group = "library_of..things", version = "v1")]
struct Book {
    metadata: ObjectMeta,
}

fn main() {}
