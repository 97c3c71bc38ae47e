//! How values of JSON documents are read: by a schema, or as they stand.
use std::fmt;

use super::{List, ListKind, Map, Value, list::Items};
use crate::Error;

/// A JSON value.
pub type Json = serde_json::Value;

/// A JSON object.
pub type Object = serde_json::Map<String, Json>;

/// How the values of one place in documents are read. Values are read when an expression reaches them.
pub trait Shape: fmt::Debug + Send + Sync {
    /// The value of a JSON value at this place.
    ///
    /// # Errors
    /// The JSON value does not fit.
    fn read<'a>(&'a self, json: &'a Json) -> Result<Value<'a>, Error>;

    /// The value of a field or entry of an object at this place; `None` if it is absent, or if nothing is known of it.
    fn field<'a>(&'a self, object: &'a Object, name: &str) -> Option<Result<Value<'a>, Error>>;

    /// The fields that have a shape here have names of their own (structs); others are keys of maps, which loops may visit.
    fn is_map(&self) -> bool;

    /// True if two objects of this place are equal. Without an answer, they are compared entry by entry.
    fn equal(&self, _left: &Object, _right: &Object) -> Option<bool> {
        None
    }
}

/// The shape of documents without a schema: whole numbers are `int` (or `uint`), other numbers `double`.
#[derive(Clone, Copy, Debug)]
pub struct Dynamic;

impl Shape for Dynamic {
    fn read<'a>(&'a self, json: &'a Json) -> Result<Value<'a>, Error> {
        Ok(match json {
            Json::Null => Value::Null,
            Json::Bool(value) => Value::Bool(*value),
            Json::Number(number) => match (number.as_i64(), number.as_u64()) {
                (Some(int), _) => Value::Int(int),
                (None, Some(uint)) => Value::Uint(uint),
                (None, None) => Value::Double(number.as_f64().unwrap_or(f64::NAN)),
            },
            Json::String(text) => Value::from(text.as_str()),
            Json::Array(items) => Value::List(List { items: Items::Document(items, self), kind: ListKind::Atomic }),
            Json::Object(object) => Value::Map(Map::Document(object, self)),
        })
    }

    fn field<'a>(&'a self, object: &'a Object, name: &str) -> Option<Result<Value<'a>, Error>> {
        object.get(name).map(|json| self.read(json))
    }

    fn is_map(&self) -> bool {
        true
    }
}
