use kindsmith::{ObjectMeta, Resource};

#[derive(Resource)]
struct Book {
    metadata: ObjectMeta,
}

fn main() {}
