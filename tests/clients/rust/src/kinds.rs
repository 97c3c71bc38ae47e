//! Objects to send.

use kindsmith::kube::Kube;
use kube::core::ObjectMeta;
use library::{Book, BookSpec, Genre};

/// A book to create.
pub fn book(name: &str, copies: i32) -> Kube<Book> {
    let author = "Someone".to_owned();
    let spec = BookSpec { title: None, author, genre: Genre::Fiction, copies, shelf: None, chapters: Vec::new() };
    Book { metadata: kindsmith::ObjectMeta::named(name), spec, status: None }.into()
}

/// Metadata with a name.
pub fn named(name: &str) -> ObjectMeta {
    ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() }
}
