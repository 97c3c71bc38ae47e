use kindsmith::ApiType;

#[derive(ApiType)]
struct BookSpec {
    weight: f64,
}

fn main() {}
