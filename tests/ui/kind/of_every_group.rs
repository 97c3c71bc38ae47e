use kindsmith::{ObjectMeta, Resource};

#[derive(Resource)]
#[resource(group = "library.example.com", version = "v1")]
struct Status {
    metadata: ObjectMeta,
}

fn main() {}
