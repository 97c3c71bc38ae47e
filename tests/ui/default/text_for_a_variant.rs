use kindsmith::ApiType;

#[derive(ApiType)]
enum Color {
    Red,
    Green,
}

#[derive(ApiType)]
struct BookSpec {
    #[api(default = "Red")]
    color: Color,
}

fn main() {}
