use kindsmith::Resource;

#[derive(Resource)]
#[resource(group = "library.example.com", version = "v1")]
struct Book {
    metadata: String,
}

fn main() {}
