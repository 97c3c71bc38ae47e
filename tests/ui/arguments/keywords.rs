use kindsmith::ApiType;

#[derive(ApiType)]
struct BookSpec {
    #[api(keywords = {"maxLength": 3})]
    title: String,
}

fn main() {}
