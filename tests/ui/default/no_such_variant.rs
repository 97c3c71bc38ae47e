use kindsmith::ApiType;

#[derive(ApiType)]
enum Color {
    Red,
    Green,
}

#[derive(ApiType)]
struct BookSpec {
    #[api(default = Color::Reed)]
    color: Color,
}

fn main() {}
