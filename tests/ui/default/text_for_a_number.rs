use kindsmith::ApiType;

#[derive(ApiType)]
struct BookSpec {
    #[api(default = "1")]
    copies: i32,
}

fn main() {}
