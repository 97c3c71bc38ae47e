use kindsmith::ApiType;

#[derive(ApiType)]
struct BookSpec {
    #[api(minimum = 1, exclusive_maximum = 1)]
    copies: i32,
}

fn main() {}
