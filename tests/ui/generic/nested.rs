use kindsmith::ApiType;

#[derive(ApiType)]
struct Page<T> {
    items: Vec<T>,
}

fn main() {}
