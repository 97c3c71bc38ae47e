use kindsmith::ApiType;

#[derive(ApiType)]
#[serde(rename_all = "camelCase")]
enum Action {
    Exec(String),
    Nothing,
}

fn main() {}
