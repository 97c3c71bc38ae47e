use kindsmith::ApiType;

#[derive(ApiType)]
struct BookSpec {
    #[api(minmum = 1)]
    copies: i32,
}

fn main() {}
