use kindsmith::ApiType;

#[derive(ApiType)]
struct BookSpec {
    size: (i32, i32),
}

fn main() {}
