use kindsmith::ApiType;

#[derive(ApiType)]
struct BookSpec {
    #[api(frobnicate)]
    author: String,
}

fn main() {}
