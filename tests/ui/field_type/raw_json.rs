use kindsmith::ApiType;

#[derive(ApiType)]
struct BookSpec {
    extra: serde_json::Value,
}

fn main() {}
