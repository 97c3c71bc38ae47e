use kindsmith::{ApiType, ObjectMeta, Resource};

#[derive(Resource)]
#[resource(group = "Library.example.com", version = "1", sttaus)]
struct Books {
    metadata: ObjectMeta,
    spec: Vec<u32>,
}

#[derive(ApiType)]
struct BookSpec {
    #[api(minimum = 9, maximum = 1)]
    page_count: i32,
    #[api(patern = "a")]
    #[serde(flatten)]
    code: String,
}

fn main() {}
