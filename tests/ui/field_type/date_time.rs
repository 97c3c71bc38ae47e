use kindsmith::ApiType;

#[derive(ApiType)]
struct BookSpec {
    born: std::time::SystemTime,
}

fn main() {}
