use kindsmith::ApiType;

#[derive(ApiType, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
enum Action {
    #[api(schema = schemars)]
    Forward(kindsmith::RawJson),
}

fn main() {}
