use kindsmith::{ObjectMeta, Resource};

#[derive(Resource)]
#[resource(group = "kubernetes.io", version = "v1")]
struct Book {
    metadata: ObjectMeta,
}

fn main() {}
