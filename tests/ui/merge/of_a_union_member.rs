use kindsmith::ApiType;

#[derive(ApiType)]
#[serde(rename_all = "camelCase")]
enum Action {
    #[api(merge)]
    Exec(String),
}

fn main() {}
