//! Messages: a kind, an enumeration, and a union.

#[derive(Resource, Message)]
#[resource(group = "library.example.com", version = "v1")]
struct Book {
    #[api(proto = 1)]
    metadata: ObjectMeta,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[api(proto = 3)]
    authors: Vec<String>,
    #[api(proto = 2, proto_zero)]
    pages: Option<i32>,
}

#[derive(ApiType, Message)]
enum Genre {
    Fiction,
    #[serde(rename = "true")]
    Science,
}

#[derive(ApiType, Message)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
enum Place {
    #[api(proto = 1)]
    Shelf(String),
    #[api(proto = 2)]
    Lent {
        #[api(proto = 1)]
        to: String,
    },
}
