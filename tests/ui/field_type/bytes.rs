use kindsmith::ApiType;

#[derive(ApiType)]
struct BookSpec {
    cover: Vec<u8>,
}

fn main() {}
