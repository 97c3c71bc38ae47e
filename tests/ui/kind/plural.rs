use kindsmith::{ObjectMeta, Resource};

#[derive(Resource)]
#[resource(group = "library.example.com", version = "v1")]
struct Libraries {
    metadata: ObjectMeta,
}

fn main() {}
