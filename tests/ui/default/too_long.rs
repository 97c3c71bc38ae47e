use kindsmith::ApiType;

#[derive(ApiType)]
struct BookSpec {
    #[api(default = "anonymous", max_length = 4)]
    author: String,
}

fn main() {}
