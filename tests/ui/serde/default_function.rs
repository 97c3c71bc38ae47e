use kindsmith::ApiType;

#[derive(ApiType)]
struct BookSpec {
    #[serde(default = "five")]
    copies: i32,
}

fn main() {}
