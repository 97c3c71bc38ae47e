use kindsmith::ApiType;

#[derive(ApiType)]
enum Action {
    Exec(String),
    HttpGet(String),
}

fn main() {}
