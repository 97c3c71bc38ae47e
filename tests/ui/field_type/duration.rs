use kindsmith::ApiType;

#[derive(ApiType)]
struct BookSpec {
    period: std::time::Duration,
}

fn main() {}
