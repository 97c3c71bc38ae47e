use kindsmith::{ApiType, Message};

#[derive(ApiType, Message)]
struct BookSpec {
    #[api(proto = 1, min_length = -1)]
    author: String,
    #[api(proto = 1)]
    copies: i32,
}

fn main() {}
