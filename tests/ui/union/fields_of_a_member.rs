use kindsmith::ApiType;

#[derive(ApiType)]
#[serde(rename_all = "camelCase")]
enum Action {
    Exec { max_tries: i32 },
}

fn main() {}
