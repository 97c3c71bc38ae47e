use kindsmith::ApiType;

#[derive(ApiType)]
struct BookSpec {
    copies: u64,
}

fn main() {}
