use kindsmith::ApiType;

#[derive(ApiType)]
struct BookSpec {
    #[serde(rename = "Page_Count")]
    pages: i32,
}

fn main() {}
