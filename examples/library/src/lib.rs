//! A library: books, which are namespaced, and shelves, which are cluster-scoped.
//!
//! These declarations are complete: the derives add the list kind, table columns, OpenAPI, validation and discovery.
//! The handlers for lending are in [`lending`], a hook with state in [`purchasing`].

use kindsmith::{
    ApiType, Condition, ObjectMeta, Resource, Time,
    handlers::{post, text},
    server::Builder,
};
use serde::{Deserialize, Serialize};

pub mod lending;
pub mod purchasing;
pub mod v1beta1;

/// Adds everything that the library serves to a server.
pub fn serve(server: Builder) -> Builder {
    server
        .kind_with::<Book>(purchasing::Purchasing { most_copies: 1_000 })
        .kind::<v1beta1::Book>()
        .kind::<Shelf>()
        .virtual_kind(lending::review)
        .subresource("lend", post(lending::lend))
        .subresource("return", post(lending::take_back))
        .subresource("log", text(lending::log))
}

/// A book that the library holds.
#[derive(Resource, Clone, Debug)]
#[resource(group = "library.example.com", version = "v1", shortname = "bk", category = "library", status)]
#[resource(scale(replicas = spec.copies, status = status.copies, selector = status.selector))]
#[resource(selectable(spec.genre))]
#[resource(column("Author", path = spec.author, description = "Who wrote it"))]
#[resource(column("Genre", path = spec.genre))]
#[resource(column("Copies", path = spec.copies, description = "How many the library wants"))]
#[resource(column("Shelf", path = spec.shelf, priority = 1))]
#[resource(column("Age", path = metadata.creation_timestamp))]
pub struct Book {
    /// Standard object's metadata.
    pub metadata: ObjectMeta,
    /// The desired state of the book.
    pub spec: BookSpec,
    /// The observed state of the book.
    pub status: Option<BookStatus>,
}

/// `BookSpec` describes a book and how many copies there should be.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[api(
    rule = "self.copies > 0 || !has(self.shelf)",
    message = "a book without copies stands on no shelf",
    field = shelf,
    reason = FieldValueForbidden
)]
pub struct BookSpec {
    /// The title. Defaults to the object's name.
    #[api(max_length = 200)]
    pub title: Option<String>,
    /// The author of the book.
    #[api(min_length = 1)]
    pub author: String,
    /// The genre. Books can be selected by it.
    #[api(default = Genre::Fiction)]
    pub genre: Genre,
    /// The number of copies that the library should have.
    #[api(default = 1, minimum = 0)]
    pub copies: i32,
    /// The name of the shelf with the book.
    pub shelf: Option<String>,
    /// The chapters. Their names are unique within the book.
    #[api(list = map(key = name), merge)]
    #[serde(default)]
    pub chapters: Vec<Chapter>,
}

/// Genre is the category of a book.
#[derive(ApiType, Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Genre {
    /// Novels and stories.
    Fiction,
    /// Scientific works.
    Science,
    /// Poems.
    Poetry,
}

/// Chapter is a part of a book.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Chapter {
    /// The name of the chapter, unique within the book.
    pub name: String,
    /// The number of pages.
    #[api(minimum = 1)]
    pub pages: Option<i32>,
}

/// `BookStatus` is the observed state of a book.
#[derive(ApiType, Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BookStatus {
    /// The number of existing copies.
    pub copies: Option<i32>,
    /// A label selector that matches the copies.
    pub selector: Option<String>,
    /// The readers that have a copy.
    #[api(list = set)]
    #[serde(default)]
    pub readers: Vec<String>,
    /// The time when a copy was last lent.
    pub last_lent: Option<Time>,
    /// The latest observations of the book's state.
    #[api(list = map(key = kind), merge)]
    #[serde(default)]
    pub conditions: Vec<Condition>,
}

/// A shelf of the library.
#[derive(Resource, Clone, Debug)]
#[resource(group = "library.example.com", version = "v1", plural = "shelves", category = "library", cluster)]
#[resource(column("Room", path = spec.room), column("Age", path = metadata.creation_timestamp))]
pub struct Shelf {
    /// Standard object's metadata.
    pub metadata: ObjectMeta,
    /// The desired state of the shelf.
    pub spec: ShelfSpec,
}

/// `ShelfSpec` describes a shelf.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ShelfSpec {
    /// The room.
    #[api(min_length = 1)]
    pub room: String,
    /// The number of books that it holds.
    #[api(minimum = 1)]
    pub capacity: Option<i32>,
}
