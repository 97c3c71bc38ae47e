use kindsmith::{ObjectMeta, Resource};

#[derive(Resource)]
#[resource(group = "library.example.com", version = "v1")]
#[serde(deny_unknown_fields)]
struct Book {
    metadata: ObjectMeta,
}

fn main() {}
