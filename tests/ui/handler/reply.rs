use kindsmith::{
    ObjectMeta, Resource, Server,
    handlers::{Parent, Result, post},
};

#[derive(Resource, Clone)]
#[resource(group = "library.example.com", version = "v1")]
struct Book {
    metadata: ObjectMeta,
}

async fn lend(_: Parent<Book>, _: Book) -> Result<String> {
    Ok("lent".to_owned())
}

fn main() {
    let _ = Server::builder().kind::<Book>().subresource("lend", post(lend));
}
