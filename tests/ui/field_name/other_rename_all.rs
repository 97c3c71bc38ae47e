use kindsmith::ApiType;

#[derive(ApiType)]
#[serde(rename_all = "kebab-case")]
struct BookSpec {
    page_count: i32,
}

fn main() {}
