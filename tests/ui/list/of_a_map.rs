use kindsmith::ApiType;

#[derive(ApiType)]
struct BookSpec {
    #[api(list = atomic)]
    options: std::collections::BTreeMap<String, String>,
}

fn main() {}
