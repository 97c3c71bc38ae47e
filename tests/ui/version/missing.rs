use kindsmith::{ObjectMeta, Resource};

#[derive(Resource)]
#[resource(group = "library.example.com")]
struct Book {
    metadata: ObjectMeta,
}

fn main() {}
