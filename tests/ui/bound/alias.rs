use kindsmith::ApiType;

type Count = i32;

#[derive(ApiType)]
struct BookSpec {
    #[api(min_length = 1)]
    copies: Count,
}

fn main() {}
