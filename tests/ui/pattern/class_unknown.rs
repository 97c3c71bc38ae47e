use kindsmith::ApiType;

#[derive(ApiType)]
struct BookSpec {
    #[api(pattern = r"^\p{Greek}$")]
    author: String,
}

fn main() {}
