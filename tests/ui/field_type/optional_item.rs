use kindsmith::ApiType;

#[derive(ApiType)]
struct BookSpec {
    authors: Vec<Option<String>>,
}

fn main() {}
