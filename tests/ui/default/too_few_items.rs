use kindsmith::ApiType;

#[derive(ApiType)]
struct BookSpec {
    #[api(default = [], min_items = 1)]
    authors: Vec<String>,
}

fn main() {}
