use kindsmith::ApiType;

#[derive(ApiType)]
struct BookSpec {
    #[api(default = "", min_length = 1)]
    author: String,
}

fn main() {}
