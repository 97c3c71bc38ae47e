use kindsmith::ApiType;

#[derive(ApiType)]
struct BookSpec {
    copies: i128,
}

fn main() {}
