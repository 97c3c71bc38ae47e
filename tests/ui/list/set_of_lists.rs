use kindsmith::ApiType;

#[derive(ApiType)]
struct BookSpec {
    #[api(list = set)]
    rows: Vec<Vec<String>>,
}

fn main() {}
