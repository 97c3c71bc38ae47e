use kindsmith::ApiType;

#[derive(ApiType)]
#[serde(rename_all = "camelCase")]
enum Action {
    #[api(proto = 1)]
    Exec(String),
    #[api(proto = 1)]
    HttpGet(String),
}

fn main() {}
