use kindsmith::ApiType;

#[derive(ApiType)]
struct BookSpec {
    #[api(merge(key = name))]
    tags: Vec<String>,
}

fn main() {}
