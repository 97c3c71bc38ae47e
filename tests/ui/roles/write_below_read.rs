use kindsmith::Resource;

#[derive(Resource, Clone, Debug, PartialEq)]
#[resource(group = "example.com", version = "v1", roles(read = edit, write = view))]
struct Book {
    metadata: kindsmith::ObjectMeta,
}

fn main() {}
