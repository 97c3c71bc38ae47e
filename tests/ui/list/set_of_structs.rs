use kindsmith::ApiType;

#[derive(ApiType)]
struct Chapter {
    name: String,
    page: Option<i32>,
    #[serde(default)]
    part: String,
}

#[derive(ApiType)]
struct BookSpec {
    #[api(list = set)]
    chapters: Vec<Chapter>,
}

fn main() {}
