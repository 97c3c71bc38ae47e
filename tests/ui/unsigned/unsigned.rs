use kindsmith::ApiType;

#[derive(ApiType)]
struct BookSpec {
    copies: u32,
}

fn main() {}
