use kindsmith::{ObjectMeta, Resource};

#[derive(Resource)]
#[resource(group = "library.example.com", version = "v1")]
struct List {
    metadata: ObjectMeta,
}

fn main() {}
