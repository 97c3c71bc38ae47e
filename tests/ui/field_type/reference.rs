use kindsmith::ApiType;

#[derive(ApiType)]
struct BookSpec {
    author: &'static str,
}

fn main() {}
