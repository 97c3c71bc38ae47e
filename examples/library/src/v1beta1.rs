//! The older version of books, in which `author` was called `writer` and there were no shelves.
use kindsmith::{ApiType, ObjectMeta, Resource};

/// A book that the library holds.
#[derive(Resource, Clone, Debug)]
#[resource(version = "v1beta1", storage = crate::Book, status, selectable(spec.writer), deprecated)]
#[resource(scale(replicas = spec.copies, status = status.copies, selector = status.selector))]
#[resource(convert(renamed(spec.writer = spec.author), added(spec.shelf)))]
pub(crate) struct Book {
    metadata: ObjectMeta,
    spec: BookSpec,
    status: Option<crate::BookStatus>,
}

/// `BookSpec` describes a book and how many copies there should be.
#[derive(ApiType, Clone, Debug, serde::Serialize, serde::Deserialize)]
struct BookSpec {
    title: Option<String>,
    writer: String,
    #[api(default = crate::Genre::Fiction)]
    genre: crate::Genre,
    #[api(default = 1, minimum = 0)]
    copies: i32,
    #[api(list = map(key = name), merge)]
    #[serde(default)]
    chapters: Vec<crate::Chapter>,
}
