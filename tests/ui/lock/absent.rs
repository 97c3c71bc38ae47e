use kindsmith::{ApiType, ObjectMeta, Resource};

#[derive(Resource)]
#[resource(group = "library.example.com", version = "v1", proto = "lock/v1.proto")]
struct Book {
    metadata: ObjectMeta,
    spec: BookSpec,
}

#[derive(ApiType)]
#[api(proto = "lock/v1.proto")]
struct BookSpec {
    author: String,
    title: Option<String>,
}

fn main() {}
