use kindsmith::{ObjectMeta, Resource, Server, handlers::{RequestContext, Result}};

#[derive(Resource)]
#[resource(group = "library.example.com", version = "v1")]
struct Question {
    metadata: ObjectMeta,
    answer: Option<String>,
}

async fn answer(question: Question, _: RequestContext) -> Result<Question> {
    Ok(question)
}

fn main() {
    let _ = Server::builder().virtual_kind(answer);
}
