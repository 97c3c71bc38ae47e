use kindsmith::ApiType;

#[derive(ApiType)]
#[serde(rename_all = "camelCase")]
struct BookStatus {
    observed_generation: Option<i32>,
}

fn main() {}
