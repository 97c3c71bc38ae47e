use kindsmith::ApiType;

#[derive(ApiType)]
#[serde(rename_all = "camelCase")]
enum Action {
    Wait(u32),
}

fn main() {}
