//! How values of JSON documents are read: by a schema, or as they stand.
use std::fmt;

use super::{Items, List, ListKind, Map, Text, Value};
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

    /// The value of a field or entry of an object at this place, by its name in expressions; `None` if it is absent, or if nothing is known
    /// of it.
    fn field<'a>(&'a self, object: &'a Object, name: &str) -> Option<Result<Value<'a>, Error>>;

    /// True if something is known of a field or entry, by its name in documents. Loops do not visit others.
    fn knows(&self, _name: &str) -> bool {
        true
    }

    /// True if values of a field, by its name in documents, are equal if their JSON is: nothing is known of their types.
    fn compares_json(&self, name: &str) -> bool {
        !self.knows(name)
    }

    /// The name in expressions of a field or entry, by its name in documents.
    fn spelling<'a>(&self, name: &'a str) -> Text<'a> {
        Text::Borrowed(name)
    }

    /// True if a schema reads the values. Its lists and objects do not compare with values of other types.
    fn typed(&self) -> bool {
        true
    }

    /// A value that did not come from this place, as an element of a list of it: sums read all elements as those of their left side.
    ///
    /// # Errors
    /// The value has another form there.
    fn accept<'a>(&'a self, value: Value<'a>) -> Result<Value<'a>, Error> {
        Ok(value)
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

    fn typed(&self) -> bool {
        false
    }
}
