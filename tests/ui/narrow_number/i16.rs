use kindsmith::ApiType;

#[derive(ApiType)]
struct BookSpec {
    copies: i16,
}

fn main() {}
