use kindsmith::{ObjectMeta, Resource, Server};

#[derive(Resource)]
#[resource(group = "library.example.com", version = "v1", unstored)]
struct Question {
    metadata: ObjectMeta,
    answer: Option<String>,
}

fn main() {
    let _ = Server::builder().kind::<Question>();
}
