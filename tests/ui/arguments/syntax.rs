use kindsmith::ApiType;

#[derive(ApiType)]
struct BookSpec {
    #[api(minimum = )]
    copies: i32,
}

fn main() {}
