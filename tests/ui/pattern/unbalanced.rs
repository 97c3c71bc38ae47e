use kindsmith::ApiType;

#[derive(ApiType)]
struct BookSpec {
    #[api(pattern = "^[a-z+$")]
    author: String,
}

fn main() {}
