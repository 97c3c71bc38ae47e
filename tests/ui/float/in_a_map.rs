use kindsmith::ApiType;

#[derive(ApiType)]
struct BookSpec {
    weights: std::collections::BTreeMap<String, f64>,
}

fn main() {}
