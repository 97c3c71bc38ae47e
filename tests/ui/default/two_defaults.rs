use kindsmith::ApiType;

#[derive(ApiType)]
struct BookSpec {
    #[serde(default)]
    #[api(default = 1)]
    copies: i32,
}

fn main() {}
