#[derive(Resource)]
#[resource(group = "library.example.com", version = "1", plurl = "books")]
pub struct Books {
    pub metadata: ObjectMeta,
}

#[derive(ApiType)]
pub struct Page<T> {
    pub items: Vec<T>,
}
