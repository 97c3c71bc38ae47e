//! Values of expressions: scalars, lists and maps that share what they have in common, and documents read in place.
//!
//! `shape` is how documents are read, `list` and `map` are collections, `text` texts and bytes, `time` durations and timestamps,
//! `order` compares numbers and orders values, `equal` tests equality, `display` prints values in errors, `json` as JSON.
use std::{fmt, sync::Arc};

mod display;
mod equal;
mod json;
mod list;
mod map;
mod order;
mod shape;
#[cfg(test)]
mod tests;
mod text;
mod time;

pub(crate) use self::{
    display::go_double,
    order::{exact_int, exact_uint, int_of, uint_of},
    time::{Fields, Zone},
};
pub use self::{
    list::{Element, Items, List, ListKind},
    map::{Entries, Map},
    shape::{Dynamic, Json, Object, Shape},
    text::{Octets, Text},
    time::{Duration, Timestamp},
};
use super::Error;
use crate::syntax::ast::Literal;

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

    /// True if others can be compared with it.
    fn is_right_operand(&self) -> bool {
        true
    }

    /// Its size for costs.
    fn size(&self) -> u64 {
        1
    }

    /// How many bytes a comparison reads if they may be many.
    fn bytes(&self) -> usize {
        0
    }
}

impl dyn Opaque {
    /// It as one of a type.
    pub fn downcast<T: Opaque>(&self) -> Option<&T> {
        let any: &dyn std::any::Any = self;
        any.downcast_ref()
    }
}

impl From<&Literal> for Value<'_> {
    fn from(literal: &Literal) -> Self {
        match literal {
            Literal::Null => Self::Null,
            Literal::Bool(value) => Self::Bool(*value),
            Literal::Int(value) => Self::Int(*value),
            Literal::Uint(value) => Self::Uint(*value),
            Literal::Double(value) => Self::Double(*value),
            Literal::String(text) => Self::String(Text::Shared(Arc::clone(text))),
            Literal::Bytes(bytes) => Self::Bytes(Octets::Shared(Arc::clone(bytes))),
        }
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

impl From<bool> for Value<'_> {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<i64> for Value<'_> {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

impl From<u64> for Value<'_> {
    fn from(value: u64) -> Self {
        Self::Uint(value)
    }
}

impl From<f64> for Value<'_> {
    fn from(value: f64) -> Self {
        Self::Double(value)
    }
}

impl<'a> Value<'a> {
    /// How deep what visits all parts of a value goes. Documents are nested 256 deep at most, and expressions 250.
    pub(crate) const DEEPEST: usize = 512;

    /// A list of values.
    pub fn list(values: Vec<Self>) -> Self {
        Self::List(List { items: Items::Values(Arc::new(values)), kind: ListKind::Atomic })
    }

    /// A map of entries; of equal keys the last entry stays.
    pub fn map(entries: impl IntoIterator<Item = (Self, Self)>) -> Self {
        Self::Map(Map::Entries(Arc::new(entries.into_iter().collect())))
    }

    /// An optional value.
    pub fn optional(value: Option<Self>) -> Self {
        Self::Optional(value.map(Arc::new))
    }

    /// The type with a name.
    pub fn type_named(name: &str) -> Self {
        Self::Type(name.into())
    }

    /// A value that functions alone understand.
    pub fn opaque(value: impl Opaque) -> Self {
        Self::Opaque(Arc::new(value))
    }

    /// It as a value that functions alone understand, of a type.
    pub fn downcast<T: Opaque>(&self) -> Option<&T> {
        match self {
            Self::Opaque(opaque) => opaque.downcast(),
            _ => None,
        }
    }

    /// The name of its type at run time: `int`, `list`, `google.protobuf.Duration`.
    pub fn type_name(&self) -> &str {
        match self {
            Self::Null => "null_type",
            Self::Bool(_) => "bool",
            Self::Int(_) => "int",
            Self::Uint(_) => "uint",
            Self::Double(_) => "double",
            Self::String(_) => "string",
            Self::Bytes(_) => "bytes",
            Self::Duration(_) => "google.protobuf.Duration",
            Self::Timestamp(_) => "google.protobuf.Timestamp",
            Self::List(_) => "list",
            Self::Map(_) => "map",
            Self::Optional(_) => "optional_type",
            Self::Type(_) => "type",
            Self::Opaque(opaque) => opaque.type_name(),
        }
    }

    /// Its size for costs: code points of a string, bytes, elements, entries, and 1 for other values.
    pub fn size(&self) -> u64 {
        match self {
            Self::String(text) => text.code_points(),
            Self::Bytes(bytes) => bytes.len() as u64,
            Self::List(list) => list.len() as u64,
            Self::Map(map) => map.len() as u64,
            Self::Optional(Some(value)) => value.size(),
            Self::Opaque(opaque) => opaque.size(),
            _ => 1,
        }
    }

    /// Moves what is borrowed into the value, so that it may outlive the document and the program. Documents become computed values.
    ///
    /// # Errors
    /// A part of a document cannot be read.
    pub fn into_owned(self) -> Result<Value<'static>, Error> {
        Ok(match self {
            Self::Null => Value::Null,
            Self::Bool(value) => Value::Bool(value),
            Self::Int(value) => Value::Int(value),
            Self::Uint(value) => Value::Uint(value),
            Self::Double(value) => Value::Double(value),
            Self::String(text) => Value::String(text.into_shared()),
            Self::Bytes(bytes) => Value::Bytes(bytes.into_shared()),
            Self::Duration(value) => Value::Duration(value),
            Self::Timestamp(value) => Value::Timestamp(value),
            Self::List(list) => {
                Value::list(list.iter().map(|item| item.and_then(Value::into_owned)).collect::<Result<Vec<_>, _>>()?)
            }
            Self::Map(map) => {
                let entry = |(key, value): (Value<'a>, Result<Value<'a>, Error>)| {
                    Ok::<_, Error>((key.into_owned()?, value.and_then(Value::into_owned)?))
                };
                Value::map(map.iter().map(entry).collect::<Result<Vec<_>, _>>()?)
            }
            Self::Optional(value) => Value::optional(value.map(|value| (*value).clone().into_owned()).transpose()?),
            Self::Type(name) => Value::Type(name),
            Self::Opaque(value) => Value::Opaque(value),
        })
    }
}
