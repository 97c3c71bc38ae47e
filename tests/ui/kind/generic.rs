use kindsmith::{ObjectMeta, Resource};

#[derive(Resource)]
#[resource(group = "library.example.com", version = "v1")]
struct Book<T> {
    metadata: ObjectMeta,
    data: Vec<T>,
}

fn main() {}
