use kindsmith::ApiType;

#[derive(ApiType)]
struct BookSpec {
    #[api(minimum = 10, maximum = 1)]
    copies: i32,
}

fn main() {}
