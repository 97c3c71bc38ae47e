use kindsmith::ApiType;

#[derive(ApiType)]
struct Page<'a> {
    text: &'a str,
}

fn main() {}
