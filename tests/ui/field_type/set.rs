use kindsmith::ApiType;

#[derive(ApiType)]
struct BookSpec {
    tags: std::collections::BTreeSet<String>,
}

fn main() {}
