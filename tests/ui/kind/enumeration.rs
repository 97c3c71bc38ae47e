use kindsmith::Resource;

#[derive(Resource)]
#[resource(group = "library.example.com", version = "v1")]
enum Book {
    New,
    Old,
}

fn main() {}
