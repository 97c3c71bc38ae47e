use kindsmith::ApiType;

#[derive(ApiType)]
struct BookSpec {
    #[api(pattern = r"^\p{Grek}$")]
    author: String,
}

fn main() {}
