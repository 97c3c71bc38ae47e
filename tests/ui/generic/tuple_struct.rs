use kindsmith::ApiType;

#[derive(ApiType)]
struct Meters(i32);

fn main() {}
