use kindsmith::{ObjectMeta, Resource};

#[derive(Resource)]
#[resource(group = "library.example.com", version = "v1", plural = "sheep")]
struct Sheep {
    metadata: ObjectMeta,
}

fn main() {}
