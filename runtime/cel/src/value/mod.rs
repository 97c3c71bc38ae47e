//! Values of expressions: scalars, lists and maps that share what they have in common, and documents read in place.
//!
//! `shape` is how documents are read, `list` and `map` are collections, `time` durations and timestamps.
//! (Order, equality and conversions come here, each in a file.)
use std::{fmt, ops::Deref, sync::Arc};

mod list;
mod map;
mod shape;
mod time;

pub use self::{
    list::{Items, List, ListKind},
    map::{Entries, Key, Map},
    shape::{Dynamic, Json, Object, Shape},
    time::{Duration, Timestamp},
};
use super::Error;

/// A value. It borrows from the document and from the program.
#[derive(Clone, Debug)]
pub enum Value<'a> {
    /// `null`
    Null,
    /// `bool`
    Bool(bool),
    /// `int`
    Int(i64),
    /// `uint`
    Uint(u64),
    /// `double`
    Double(f64),
    /// `string`
    String(Text<'a>),
    /// `bytes`
    Bytes(Octets<'a>),
    /// `google.protobuf.Duration`
    Duration(Duration),
    /// `google.protobuf.Timestamp`
    Timestamp(Timestamp),
    /// `list`
    List(List<'a>),
    /// `map`, and objects
    Map(Map<'a>),
    /// `optional_type`: a value or none.
    Optional(Option<Arc<Value<'a>>>),
    /// A type, by its name.
    Type(Arc<str>),
    /// A value that functions alone understand.
    Opaque(Arc<dyn Opaque>),
}

/// A value that functions alone understand: an address, a quantity, an authorizer.
pub trait Opaque: fmt::Debug + Send + Sync + std::any::Any {
    /// The name of its type.
    fn type_name(&self) -> &str;

    /// True if it equals another value of its type.
    fn equals(&self, other: &dyn Opaque) -> bool;

    /// Its size for costs.
    fn size(&self) -> u64 {
        1
    }
}

/// Text, borrowed or shared.
#[derive(Clone)]
pub enum Text<'a> {
    /// From the document or the program.
    Borrowed(&'a str),
    /// Computed.
    Shared(Arc<str>),
}

impl Deref for Text<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        match self {
            Self::Borrowed(text) => text,
            Self::Shared(text) => text,
        }
    }
}

impl fmt::Debug for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

/// Bytes, borrowed or shared.
#[derive(Clone)]
pub enum Octets<'a> {
    /// From the document or the program.
    Borrowed(&'a [u8]),
    /// Computed.
    Shared(Arc<[u8]>),
}

impl Deref for Octets<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Borrowed(bytes) => bytes,
            Self::Shared(bytes) => bytes,
        }
    }
}

impl fmt::Debug for Octets<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(text: &'a str) -> Self {
        Self::String(Text::Borrowed(text))
    }
}

impl From<String> for Value<'_> {
    fn from(text: String) -> Self {
        Self::String(Text::Shared(text.into()))
    }
}

impl<'a> Value<'a> {
    /// The name of its type at run time: `int`, `list`, `google.protobuf.Duration`.
    pub fn type_name(&self) -> &str {
        todo!()
    }

    /// Its size for costs: code points of a string, bytes, elements, entries, and 1 for other values.
    pub fn size(&self) -> u64 {
        todo!()
    }

    /// True if two values are equal, with numbers compared across their types.
    ///
    /// # Errors
    /// A part of a document cannot be read.
    pub fn equals(&self, _other: &Self) -> Result<bool, Error> {
        todo!()
    }
}
