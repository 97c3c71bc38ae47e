use kindsmith::{Message, ObjectMeta, Resource};

#[derive(Resource, Message)]
#[resource(group = "library.example.com", version = "v1")]
struct Book {
    metadata: ObjectMeta,
    pages: i32,
}

fn main() {}
