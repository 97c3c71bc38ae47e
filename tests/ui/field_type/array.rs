use kindsmith::ApiType;

#[derive(ApiType)]
struct BookSpec {
    size: [i32; 2],
}

fn main() {}
