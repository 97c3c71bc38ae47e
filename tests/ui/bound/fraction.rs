use kindsmith::ApiType;

#[derive(ApiType)]
struct BookSpec {
    #[api(minimum = 0.5)]
    copies: i32,
}

fn main() {}
