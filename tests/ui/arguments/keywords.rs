use kindsmith::ApiType;

#[derive(ApiType)]
#[api(keywords = {"maxProperties": 3})]
struct BookSpec {
    #[api(keywords = {"maxLength": 3})]
    title: String,
    #[api(keywords = 3)]
    author: String,
}

fn main() {}
