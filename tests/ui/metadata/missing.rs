use kindsmith::Resource;

#[derive(Resource)]
#[resource(group = "library.example.com", version = "v1")]
struct Book {
    data: Option<String>,
}

fn main() {}
