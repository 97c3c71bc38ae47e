use kindsmith::ApiType;

#[derive(ApiType)]
struct BookSpec {
    #[api(maximum = 4294967295)]
    copies: i32,
}

fn main() {}
