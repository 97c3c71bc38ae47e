use kindsmith::ApiType;

#[derive(ApiType)]
struct BookSpec {
    #[api(minimum = 1)]
    author: String,
}

fn main() {}
