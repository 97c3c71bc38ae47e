use kindsmith::ApiType;

#[derive(ApiType)]
struct BookSpec {
    #[api(max_items = 3)]
    options: std::collections::BTreeMap<String, String>,
}

fn main() {}
