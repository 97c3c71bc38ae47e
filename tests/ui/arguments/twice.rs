use kindsmith::ApiType;

#[derive(ApiType)]
struct BookSpec {
    #[api(minimum = 1, minimum = 2)]
    copies: i32,
}

fn main() {}
