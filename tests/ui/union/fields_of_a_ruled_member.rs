use kindsmith::ApiType;

#[derive(ApiType)]
#[serde(rename_all = "camelCase", rename_all_fields = "kebab-case")]
enum Action {
    Exec { max_tries: i32, command: String },
}

fn main() {}
