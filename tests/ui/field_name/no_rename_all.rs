use kindsmith::ApiType;

#[derive(ApiType)]
struct BookSpec {
    page_count: i32,
    shelf_mark: String,
    author: String,
}

fn main() {}
