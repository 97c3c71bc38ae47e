use kindsmith::ApiType;

#[derive(ApiType)]
struct BookSpec {
    #[api(default)]
    author: String,
}

fn main() {}
