use kindsmith::{ApiType, Message};

#[derive(ApiType)]
struct Chapter {
    #[api(proto = 1)]
    name: String,
}

#[derive(ApiType, Message)]
struct BookSpec {
    #[api(proto = 1)]
    chapters: Vec<Chapter>,
}

fn main() {}
