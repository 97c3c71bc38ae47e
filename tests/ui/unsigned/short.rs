use kindsmith::ApiType;

#[derive(ApiType)]
struct BookSpec {
    copies: u16,
}

fn main() {}
