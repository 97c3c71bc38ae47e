use kindsmith::ApiType;

#[derive(ApiType)]
struct BookSpec {
    #[api(list = set)]
    author: String,
}

fn main() {}
