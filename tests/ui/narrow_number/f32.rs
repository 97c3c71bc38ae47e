use kindsmith::ApiType;

#[derive(ApiType)]
struct BookSpec {
    #[api(observed)]
    weight: f32,
}

fn main() {}
