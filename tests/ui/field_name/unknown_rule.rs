use kindsmith::ApiType;

#[derive(ApiType)]
#[serde(rename_all = "camel_case")]
struct BookSpec {
    pages: i32,
}

fn main() {}
