use kindsmith::ApiType;

#[derive(ApiType)]
struct BookSpec {
    #[api(default = ["a", 1])]
    authors: Vec<String>,
}

fn main() {}
