use kindsmith::ApiType;

#[derive(ApiType)]
struct BookSpec {
    #[api(default = 1)]
    author: String,
}

fn main() {}
