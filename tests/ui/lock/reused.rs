use kindsmith::ApiType;

#[derive(ApiType)]
#[api(proto = "lock/v1.proto")]
struct BookSpec {
    author: String,
    #[api(proto = 4)]
    title: Option<String>,
    isbn: Option<String>,
    #[api(proto = 2)]
    sheets: Option<i32>,
}

fn main() {}
