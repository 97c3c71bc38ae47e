use kindsmith::ApiType;

#[derive(ApiType)]
struct BookSpec {
    #[api(minimum = 1, exclusive_minimum = 0)]
    copies: i32,
}

fn main() {}
