use kindsmith::{
    ObjectMeta, Resource, Server,
    handlers::{Parent, Result, post},
};

#[derive(Resource, Clone)]
#[resource(group = "library.example.com", version = "v1")]
struct Book {
    metadata: ObjectMeta,
}

struct Loan {
    reader: String,
}

async fn lend(_: Parent<Book>, _: Loan) -> Result<()> {
    Ok(())
}

fn main() {
    let _ = Server::builder().kind::<Book>().subresource("lend", post(lend));
}
