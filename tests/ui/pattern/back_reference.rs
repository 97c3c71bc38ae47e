use kindsmith::ApiType;

#[derive(ApiType)]
struct BookSpec {
    #[api(pattern = r"^(a+)\1$")]
    author: String,
}

fn main() {}
