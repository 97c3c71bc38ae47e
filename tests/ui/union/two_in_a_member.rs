use kindsmith::ApiType;

#[derive(ApiType)]
#[serde(rename_all = "camelCase")]
enum Action {
    Exec(String, i32),
}

fn main() {}
