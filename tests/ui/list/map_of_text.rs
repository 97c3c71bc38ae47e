use kindsmith::ApiType;

#[derive(ApiType)]
struct BookSpec {
    #[api(list = map(key = name))]
    tags: Vec<String>,
}

fn main() {}
