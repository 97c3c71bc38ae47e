use kindsmith::ApiType;

#[derive(ApiType)]
enum Color {
    Red,
    Green,
}

#[derive(ApiType)]
struct BookSpec {
    #[api(default = Color::Red)]
    color: String,
}

fn main() {}
