use kindsmith::ApiType;

#[derive(ApiType)]
struct Shelf {
    name: String,
    below: Option<Box<Shelf>>,
}

fn main() {}
