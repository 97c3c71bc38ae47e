//! The older version of books, in which `author` was called `writer` and there were no shelves.
use kindsmith::{ApiType, ObjectMeta, Resource};

use crate::{Book as Stored, BookStatus, Chapter, Genre};

/// A book that the library holds.
#[derive(Resource, Clone, Debug)]
#[resource(version = "v1beta1", storage = Stored, status, selectable(spec.writer), deprecated)]
#[resource(scale(replicas = spec.copies, status = status.copies, selector = status.selector))]
#[resource(convert(renamed(spec.writer = spec.author), added(spec.shelf)))]
pub struct Book {
    /// Standard object's metadata.
    pub metadata: ObjectMeta,
    /// The desired state of the book.
    pub spec: BookSpec,
    /// The observed state of the book.
    pub status: Option<BookStatus>,
}

/// `BookSpec` describes a book and how many copies there should be.
#[derive(ApiType, Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct BookSpec {
    /// The title. Defaults to the object's name.
    pub title: Option<String>,
    /// The author of the book.
    pub writer: String,
    /// The genre. Books can be selected by it.
    #[api(default = Genre::Fiction)]
    pub genre: Genre,
    /// The number of copies that the library should have.
    #[api(default = 1, minimum = 0)]
    pub copies: i32,
    /// The chapters. Their names are unique within the book.
    #[api(list = map(key = name), merge)]
    #[serde(default)]
    pub chapters: Vec<Chapter>,
}
