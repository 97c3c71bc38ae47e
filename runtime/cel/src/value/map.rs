//! Maps and objects.
use std::sync::Arc;

use super::{Object, Shape, Text, Value};

/// A map, or an object of a document.
#[derive(Clone, Debug)]
pub enum Map<'a> {
    /// A computed one, in the order of its entries.
    Entries(Arc<Entries<'a>>),
    /// One of a document. Its shape knows if it is an object with fields, or a map.
    Document(&'a Object, &'a dyn Shape),
}

/// The entries of a computed map: in order, each key once.
#[derive(Clone, Debug, Default)]
pub struct Entries<'a> {
    pub(crate) entries: Vec<(Value<'a>, Value<'a>)>,
    // + an index by key where there are many: the evaluator's author chooses
}

/// A key by which maps are indexed.
#[derive(Clone, Debug)]
pub enum Key<'a> {
    /// `bool`
    Bool(bool),
    /// `int`
    Int(i64),
    /// `uint`
    Uint(u64),
    /// `string`
    String(Text<'a>),
}
