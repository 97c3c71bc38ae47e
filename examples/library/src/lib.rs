//! A library: books, which live in namespaces, and shelves, which belong to the whole library.
//!
//! This is all there is to declare: the derives make the list kind, the table columns, OpenAPI, validation and
//! discovery out of it. What readers do with books is in [`lending`].

use kindsmith::{
    ApiType, ObjectMeta, Resource,
    handlers::{post, text},
    meta::{shared::Condition, time::Time},
    server::Builder,
};
use serde::{Deserialize, Serialize};

pub mod lending;
mod v1beta1;

/// Gives a server all that the library serves.
pub fn serve(server: Builder) -> Builder {
    server
        .kind::<Book>()
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
    /// Name, labels and what else every object has.
    pub metadata: ObjectMeta,
    /// What the library wants of the book.
    pub spec: BookSpec,
    /// What the library has of it.
    pub status: Option<BookStatus>,
}

/// `BookSpec` describes a book and how many copies there should be.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BookSpec {
    /// The title, as on the cover; the object's name where it is left out.
    #[api(max_length = 200)]
    pub title: Option<String>,
    /// Who wrote the book.
    #[api(min_length = 1)]
    pub author: String,
    /// The genre, by which books can be selected.
    #[api(default = Genre::Fiction)]
    pub genre: Genre,
    /// How many copies the library wants.
    #[api(default = 1, minimum = 0)]
    pub copies: i32,
    /// The shelf that the book stands on, by its name.
    pub shelf: Option<String>,
    /// The chapters, each with a name of its own.
    #[api(list = map(key = name), merge)]
    #[serde(default)]
    pub chapters: Vec<Chapter>,
}

/// Genre is what a book is about.
#[derive(ApiType, Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Genre {
    /// Made up.
    Fiction,
    /// True, as far as anyone knows.
    Science,
    /// To be sung, or nearly.
    Poetry,
}

/// Chapter is a part of a book.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Chapter {
    /// The chapter's name, unique in its book.
    pub name: String,
    /// How many pages it has.
    #[api(minimum = 1)]
    pub pages: Option<i32>,
}

/// `BookStatus` is written by whoever looks after the shelves.
#[derive(ApiType, Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BookStatus {
    /// How many copies there are.
    pub copies: Option<i32>,
    /// The label selector that finds the copies.
    pub selector: Option<String>,
    /// Who has a copy.
    #[api(list = set)]
    #[serde(default)]
    pub readers: Vec<String>,
    /// When a copy was last lent.
    pub last_lent: Option<Time>,
    /// What is known of the book's state.
    #[api(list = map(key = kind), merge)]
    #[serde(default)]
    pub conditions: Vec<Condition>,
}

/// A shelf of the library.
#[derive(Resource, Clone, Debug)]
#[resource(group = "library.example.com", version = "v1", plural = "shelves", category = "library", cluster)]
#[resource(column("Room", path = spec.room), column("Age", path = metadata.creation_timestamp))]
pub struct Shelf {
    /// Name, labels and what else every object has.
    pub metadata: ObjectMeta,
    /// Where the shelf stands.
    pub spec: ShelfSpec,
}

/// `ShelfSpec` describes a shelf.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ShelfSpec {
    /// The room.
    #[api(min_length = 1)]
    pub room: String,
    /// How many books it holds.
    #[api(minimum = 1)]
    pub capacity: Option<i32>,
}
