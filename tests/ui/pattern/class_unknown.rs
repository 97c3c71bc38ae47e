use kindsmith::ApiType;

#[derive(ApiType)]
struct BookSpec {
    #[api(pattern = r"^\p{Griek}$")]
    author: String,
}

fn main() {}
