use kindsmith::{ObjectMeta, Resource};

#[derive(Resource)]
#[resource(group = "library.example.com", version = "v1")]
struct Book {
    #[api(proto = 2)]
    metadata: ObjectMeta,
    #[api(proto = 1)]
    pages: i32,
}

fn main() {}
