use kindsmith::{ObjectMeta, Resource};

#[derive(Resource)]
#[resource(group = "net.example.com", version = "v1")]
#[api(schema = schemars)]
struct Gateway {
    metadata: ObjectMeta,
}

fn main() {}
