use kindsmith::ApiType;

#[derive(ApiType)]
struct BookSpec {
    #[api(pattern = "[0-9]+")]
    copies: i32,
}

fn main() {}
