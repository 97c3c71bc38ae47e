use kindsmith::ApiType;

#[derive(ApiType)]
struct BookSpec {
    #[api(list = sett)]
    tags: Vec<String>,
}

fn main() {}
