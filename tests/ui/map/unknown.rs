use kindsmith::ApiType;

#[derive(ApiType)]
struct BookSpec {
    #[api(map = granular)]
    options: std::collections::BTreeMap<String, String>,
}

fn main() {}
