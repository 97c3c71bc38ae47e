use kindsmith::Resource;

#[derive(Resource, Clone, Debug, PartialEq)]
#[resource(group = "example.com", version = "v1", kind = "Book")]
struct Stored {
    metadata: kindsmith::ObjectMeta,
}

#[derive(Resource, Clone, Debug, PartialEq)]
#[resource(version = "v1beta1", storage = Stored, roles(read = edit))]
struct Book {
    metadata: kindsmith::ObjectMeta,
}

fn main() {}
