use kindsmith::ApiType;

#[derive(ApiType)]
struct BookSpec {
    #[api(default = ["a", "b"], max_items = 1)]
    authors: Vec<String>,
}

fn main() {}
