use kindsmith::ApiType;

#[derive(ApiType)]
struct BookSpec {
    #[api(items(minimum = 3))]
    authors: Vec<String>,
}

fn main() {}
