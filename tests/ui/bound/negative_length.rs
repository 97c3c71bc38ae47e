use kindsmith::ApiType;

#[derive(ApiType)]
struct BookSpec {
    #[api(max_length = -1)]
    author: String,
}

fn main() {}
