use kindsmith::ApiType;

#[derive(ApiType)]
struct BookSpec {
    copies: Option<Vec<u32>>,
}

fn main() {}
