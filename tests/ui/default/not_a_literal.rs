use kindsmith::ApiType;

#[derive(ApiType)]
struct BookSpec {
    #[api(default = author)]
    author: String,
}

fn main() {}
