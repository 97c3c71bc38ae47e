use kindsmith::ApiType;

#[derive(ApiType)]
enum Color {}

fn main() {}
