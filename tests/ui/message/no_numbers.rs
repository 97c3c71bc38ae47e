use kindsmith::{ApiType, Message};

#[derive(ApiType, Message)]
struct BookSpec {
    author: String,
    copies: i32,
}

fn main() {}
