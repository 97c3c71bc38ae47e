use kindsmith::ApiType;

#[derive(ApiType)]
struct BookSpec {
    copies: u8,
}

fn main() {}
