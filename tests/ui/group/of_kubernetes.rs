use kindsmith::{ObjectMeta, Resource};

#[derive(Resource)]
#[resource(group = "library.k8s.io", version = "v1")]
struct Book {
    metadata: ObjectMeta,
}

fn main() {}
