use kindsmith::ApiType;

#[derive(ApiType)]
struct BookSpec {
    #[api(multiple_of = 0)]
    copies: i32,
}

fn main() {}
