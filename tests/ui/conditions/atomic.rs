use kindsmith::{ApiType, Condition};

#[derive(ApiType)]
#[serde(rename_all = "camelCase")]
struct BookStatus {
    #[api(list = atomic)]
    conditions: Option<Vec<Condition>>,
}

fn main() {}
