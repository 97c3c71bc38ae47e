use kindsmith::ApiType;

#[derive(ApiType)]
struct BookSpec {
    #[api(merge)]
    author: String,
}

fn main() {}
