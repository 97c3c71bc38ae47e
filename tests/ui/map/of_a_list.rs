use kindsmith::ApiType;

#[derive(ApiType)]
struct BookSpec {
    #[api(map = atomic)]
    tags: Vec<String>,
}

fn main() {}
