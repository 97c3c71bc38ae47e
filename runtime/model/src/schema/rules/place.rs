//! How expressions read the values of a schema's node: in place, as its types and extensions say (kube-apiserver's
//! `UnstructuredToVal`).
use std::{
    borrow::Cow,
    ptr,
    sync::{Arc, OnceLock},
};

use kindsmith_cel::{
    Error, Value,
    value::{Items, Json, List, ListKind, Map, Object, Opaque, Shape, Text},
};

use super::{names, text, types::Declared};
use crate::schema::{
    At,
    model::{ListType, Type},
};

/// The schema of a map's entries, which booleans are not.
pub(super) fn entry(at: At<'_>) -> Option<At<'_>> {
    at.entry().filter(|entry| entry.boolean.is_none())
}

/// Spreads the bits of addresses.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

/// A node of a schema in an evaluation. The nodes below it are made when values are read.
#[derive(Debug)]
pub(super) struct Place<'s> {
    at: At<'s>,
    /// It is a whole object, with a type and names.
    is_object: bool,
    below: OnceLock<Box<Link<'s>>>,
    /// The keys of a list's items, as they are looked up.
    keys: OnceLock<Vec<String>>,
}

/// A tree of the nodes below another one that were reached so far, by the bits of a hash of their addresses.
#[derive(Debug)]
struct Link<'s> {
    place: Place<'s>,
    next: [OnceLock<Box<Self>>; 4],
}

impl<'s> Place<'s> {
    pub(super) fn new(at: At<'s>, is_object: bool) -> Self {
        Self { at, is_object: is_object || at.is_object(), below: OnceLock::new(), keys: OnceLock::new() }
    }

    /// The node.
    pub(super) fn at(&self) -> At<'s> {
        self.at
    }

    /// It is a whole object, with a type and names.
    pub(super) fn is_object(&self) -> bool {
        self.is_object
    }

    /// The place of a node directly below this one.
    pub(super) fn child(&self, at: At<'s>) -> &Self {
        let mut slot = &self.below;
        let mut hash = (ptr::from_ref(at.node()).addr() as u64).wrapping_mul(FACTOR);
        loop {
            let link = slot.get_or_init(|| Box::new(Link { place: Place::new(at, false), next: Default::default() }));
            if ptr::eq(link.place.at.node(), at.node()) {
                return &link.place;
            }
            slot = &link.next[(hash >> 62) as usize];
            hash <<= 2;
        }
    }

    /// Its fields have names of their own.
    fn is_struct(&self) -> bool {
        self.is_object || !self.at.children().properties.is_empty()
    }

    fn property(&self, name: &str) -> Option<At<'s>> {
        // Types know the names alone; values have what is declared.
        if self.at.names_only {
            return self.at.property(name);
        }
        Declared::new(self.at, self.is_object).property(name).map(|field| field.at)
    }

    /// The value of something directly below.
    fn read_below<'a>(&'a self, at: At<'s>, json: &'a Json) -> Result<Value<'a>, Error> {
        match scalar(at, json) {
            Some(value) => value,
            None => self.child(at).read(json),
        }
    }

    fn list<'a>(&'a self, items: &'a [Json]) -> Result<Value<'a>, Error> {
        let Some(of_items) = self.at.items() else {
            return Err(Error::new("invalid array type, expected Items with a non-empty Schema"));
        };
        let kind = match &self.at.node().list {
            ListType::Atomic => ListKind::Atomic,
            ListType::Set => ListKind::Set,
            ListType::Map(keys) => {
                ListKind::Map(self.keys.get_or_init(|| keys.iter().map(|key| as_looked_up(key)).collect()))
            }
        };
        Ok(Value::List(List { items: Items::Document(items, self.child(of_items)), kind }))
    }
}

impl Shape for Place<'_> {
    fn read<'a>(&'a self, json: &'a Json) -> Result<Value<'a>, Error> {
        if let Some(value) = scalar(self.at, json) {
            return value;
        }
        match (self.at.kind, json) {
            (Type::Object, Json::Object(object)) => Ok(Value::Map(Map::Document(object, self))),
            (Type::Object, _) => {
                Err(Error::new("invalid data, expected a map for the provided schema with type=object"))
            }
            (Type::Array, Json::Array(items)) => self.list(items),
            (Type::Array, _) => {
                Err(Error::new("invalid data, expected an array for the provided schema with type=array"))
            }
            _ => Ok(Value::Opaque(Arc::new(Preserved(json.clone())))),
        }
    }

    fn field<'a>(&'a self, object: &'a Object, name: &str) -> Option<Result<Value<'a>, Error>> {
        if !self.is_struct() {
            return Some(self.read_below(entry(self.at)?, object.get(name)?));
        }
        let name = names::unescaped(name)?;
        let json = object.get(&*name).filter(|json| !json.is_null())?;
        Some(self.read_below(self.property(&name)?, json))
    }

    fn knows(&self, name: &str) -> bool {
        if self.is_struct() { self.property(name).is_some() } else { entry(self.at).is_some() }
    }

    fn compares_json(&self, name: &str) -> bool {
        let at = if self.is_struct() { self.property(name) } else { entry(self.at) };
        at.is_none_or(|at| at.kind == Type::Any)
    }

    fn spelling<'a>(&self, name: &'a str) -> Text<'a> {
        if !self.is_struct() {
            return Text::Borrowed(name);
        }
        match names::escaped(name) {
            Some(Cow::Owned(escaped)) => Text::Shared(escaped.into()),
            _ => Text::Borrowed(name),
        }
    }
}

/// A key of a list's items as kube-apiserver looks it up: escaped, although items have plain names. So a key such as `namespace` is
/// absent in all items.
fn as_looked_up(key: &str) -> String {
    names::escaped(key).map_or_else(|| key.to_owned(), Cow::into_owned)
}

/// The value of a scalar, or an error; `None` for objects, lists and what is not typed.
fn scalar<'a>(at: At<'_>, json: &'a Json) -> Option<Result<Value<'a>, Error>> {
    let unexpected =
        |expected: &str| Err(Error::new(format!("invalid data, expected {expected}, got {}", type_of_go(json))));
    let value = match (at.kind, json) {
        (_, Json::Null) if at.nullable => Ok(Value::Null),
        (_, Json::Null) => Err(Error::new("invalid data, got null for schema with nullable=false")),
        (Type::Object | Type::Array | Type::Any, _) => return None,
        (Type::String, Json::String(given)) => text::read(given, at.node().format.as_deref()),
        (Type::String, _) => unexpected("string"),
        (Type::Boolean, Json::Bool(value)) => Ok(Value::Bool(*value)),
        (Type::Boolean, _) => unexpected("bool"),
        (Type::Number, Json::Number(number)) => Ok(Value::Double(number.as_f64().unwrap_or(f64::NAN))),
        (Type::Number, _) => unexpected("float"),
        (Type::Integer, Json::Number(number)) => {
            number.as_i64().map_or_else(|| unexpected("int"), |int| Ok(Value::Int(int)))
        }
        (Type::Integer, _) => unexpected("int"),
        (Type::IntOrString, Json::String(given)) => Ok(Value::from(given.as_str())),
        (Type::IntOrString, Json::Number(number)) if number.is_i64() => {
            Ok(Value::Int(number.as_i64().unwrap_or_default()))
        }
        (Type::IntOrString, _) => {
            Err(Error::new("invalid data, expected XIntOrString value to be either a string or integer"))
        }
    };
    Some(value)
}

/// The type that Go decodes a JSON value into.
fn type_of_go(json: &Json) -> &'static str {
    match json {
        Json::Null => "<nil>",
        Json::Bool(_) => "bool",
        Json::Number(number) if number.is_i64() => "int64",
        Json::Number(_) => "float64",
        Json::String(_) => "string",
        Json::Array(_) => "[]interface {}",
        Json::Object(_) => "map[string]interface {}",
    }
}

/// A value without a type. Expressions cannot reach it, and compare it as a part of others.
#[derive(Debug)]
struct Preserved(Json);

impl Opaque for Preserved {
    fn type_name(&self) -> &'static str {
        "unknown"
    }

    fn equals(&self, other: &dyn Opaque) -> bool {
        (other as &dyn std::any::Any).downcast_ref::<Self>().is_some_and(|other| self.0 == other.0)
    }

    fn bytes(&self) -> usize {
        bytes_of(&self.0)
    }
}

/// About how many bytes a JSON value takes.
fn bytes_of(json: &Json) -> usize {
    let inside = match json {
        Json::String(text) => text.len(),
        Json::Array(items) => items.iter().map(bytes_of).sum(),
        Json::Object(object) => object.iter().map(|(name, value)| 64 + name.len() + bytes_of(value)).sum(),
        _ => 0,
    };
    size_of::<Json>() + inside
}
