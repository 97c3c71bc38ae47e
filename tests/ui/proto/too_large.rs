use kindsmith::ApiType;

#[derive(ApiType)]
struct BookSpec {
    #[api(proto = 536870912)]
    author: String,
}

fn main() {}
