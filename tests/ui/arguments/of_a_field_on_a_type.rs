use kindsmith::ApiType;

#[derive(ApiType)]
#[api(proto_zero)]
struct BookSpec {
    #[api(proto = 1)]
    author: String,
}

#[derive(ApiType)]
#[api(min_length = 1)]
struct BookStatus {
    #[api(proto = 1)]
    lent: i32,
}

fn main() {}
