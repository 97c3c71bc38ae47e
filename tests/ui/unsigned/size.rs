use kindsmith::ApiType;

#[derive(ApiType)]
struct BookSpec {
    copies: usize,
}

fn main() {}
