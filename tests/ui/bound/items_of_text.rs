use kindsmith::ApiType;

#[derive(ApiType)]
struct BookSpec {
    #[api(items(max_length = 3))]
    author: String,
}

fn main() {}
