use kindsmith::{ObjectMeta, Resource};

#[derive(Resource)]
#[resource(group = "library.example.com", version = "v1")]
#[serde(default)]
struct Book {
    metadata: ObjectMeta,
}

fn main() {}
