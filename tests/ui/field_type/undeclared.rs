use kindsmith::ApiType;

struct Shelf;

#[derive(ApiType)]
struct BookSpec {
    shelf: Shelf,
}

fn main() {}
