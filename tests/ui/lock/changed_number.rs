use kindsmith::ApiType;

#[derive(ApiType)]
#[api(proto = "lock/v1.proto")]
struct BookSpec {
    #[api(proto = 9)]
    author: String,
    pages: Option<i32>,
}

fn main() {}
