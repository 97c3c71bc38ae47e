use kindsmith::ApiType;

#[derive(ApiType)]
#[serde(content = "value")]
enum Choice {
    A,
    B,
}

fn main() {}
