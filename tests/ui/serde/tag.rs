use kindsmith::ApiType;

#[derive(ApiType)]
#[serde(tag = "type")]
enum Choice {
    A,
    B,
}

fn main() {}
