use kindsmith::ApiType;

#[derive(ApiType)]
struct BookSpec {
    pages: std::collections::BTreeMap<i32, String>,
}

fn main() {}
