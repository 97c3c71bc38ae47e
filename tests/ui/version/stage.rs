use kindsmith::{ObjectMeta, Resource};

#[derive(Resource)]
#[resource(group = "library.example.com", version = "v1gamma1")]
struct Book {
    metadata: ObjectMeta,
}

fn main() {}
