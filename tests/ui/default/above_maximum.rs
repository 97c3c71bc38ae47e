use kindsmith::ApiType;

#[derive(ApiType)]
struct BookSpec {
    #[api(default = 9, maximum = 5)]
    copies: i32,
}

fn main() {}
