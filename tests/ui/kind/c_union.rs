use kindsmith::ApiType;

#[derive(ApiType)]
union Raw {
    number: i32,
    flag: bool,
}

fn main() {}
