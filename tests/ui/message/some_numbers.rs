use kindsmith::{ApiType, Message};

#[derive(ApiType, Message)]
struct BookSpec {
    #[api(proto = 1)]
    author: String,
    copies: i32,
}

fn main() {}
