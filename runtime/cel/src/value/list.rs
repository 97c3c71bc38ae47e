//! Lists.
use std::sync::Arc;

use super::{Json, Shape, Value};

/// A list.
#[derive(Clone, Debug)]
pub struct List<'a> {
    /// Its elements.
    pub items: Items<'a>,
    /// How it compares and merges.
    pub kind: ListKind<'a>,
}

/// The elements of a list.
#[derive(Clone, Debug)]
pub enum Items<'a> {
    /// Computed ones.
    Values(Arc<Vec<Value<'a>>>),
    /// Those of a document; the shape is that of an element.
    Document(&'a [Json], &'a dyn Shape),
}

/// How lists compare and merge (`x-kubernetes-list-type`).
#[derive(Clone, Copy, Debug, Default)]
pub enum ListKind<'a> {
    /// By position; sums append.
    #[default]
    Atomic,
    /// As sets: without order; sums are unions.
    Set,
    /// By these keys of their elements; sums merge.
    Map(&'a [String]),
}
