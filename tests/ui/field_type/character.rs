use kindsmith::ApiType;

#[derive(ApiType)]
struct BookSpec {
    initial: char,
}

fn main() {}
