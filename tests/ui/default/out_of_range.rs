use kindsmith::ApiType;

#[derive(ApiType)]
struct BookSpec {
    #[api(default = 3000000000)]
    copies: i32,
}

fn main() {}
