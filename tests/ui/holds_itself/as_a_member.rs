use kindsmith::ApiType;

#[derive(ApiType)]
#[serde(rename_all = "camelCase")]
enum Rule {
    Not(Box<Rule>),
    Name(String),
}

fn main() {}
