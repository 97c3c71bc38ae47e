use kindsmith::ApiType;

#[derive(ApiType)]
struct BookSpec {
    #[api(maximum = 1)]
    lent: bool,
}

fn main() {}
