use kindsmith::ApiType;

#[derive(ApiType)]
#[serde(untagged)]
enum Choice {
    A,
    B,
}

fn main() {}
