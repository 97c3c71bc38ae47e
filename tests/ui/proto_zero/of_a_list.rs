use kindsmith::ApiType;

#[derive(ApiType)]
struct BookSpec {
    #[serde(default)]
    #[api(proto = 1, proto_zero)]
    authors: Vec<String>,
}

fn main() {}
