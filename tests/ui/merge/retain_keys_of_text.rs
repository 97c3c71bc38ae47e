use kindsmith::ApiType;

#[derive(ApiType)]
struct BookSpec {
    #[api(retain_keys)]
    author: String,
}

fn main() {}
