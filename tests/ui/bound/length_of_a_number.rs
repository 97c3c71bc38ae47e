use kindsmith::ApiType;

#[derive(ApiType)]
struct BookSpec {
    #[api(min_length = 1)]
    copies: i32,
}

fn main() {}
