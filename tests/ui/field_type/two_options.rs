use kindsmith::ApiType;

#[derive(ApiType)]
struct BookSpec {
    author: Option<Option<String>>,
}

fn main() {}
