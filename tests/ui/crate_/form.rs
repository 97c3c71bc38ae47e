use kindsmith::{ApiType, ObjectMeta, Resource};

#[derive(Resource)]
#[resource(crate = "kindsmith", group = "library.example.com", version = "v1")]
struct Book {
    metadata: ObjectMeta,
    spec: BookSpec,
}

#[derive(ApiType)]
#[api(crate)]
struct BookSpec {
    author: String,
}

fn main() {}
