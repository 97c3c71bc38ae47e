//! Maps and objects.
use std::{
    collections::HashMap,
    hash::{BuildHasher, Hash, Hasher, RandomState},
    sync::Arc,
};

use super::{Dynamic, Object, Shape, Value};
use crate::Error;

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
    entries: Vec<(Value<'a>, Value<'a>)>,
    /// The index of a large map.
    index: Option<Index>,
}

/// Positions of entries by the hashes of their keys.
#[derive(Clone, Debug, Default)]
struct Index {
    state: RandomState,
    positions: HashMap<u64, Vec<usize>>,
}

impl<'a> Map<'a> {
    /// How many entries there are.
    pub fn len(&self) -> usize {
        match self {
            Self::Entries(entries) => entries.entries.len(),
            Self::Document(object, _) => object.len(),
        }
    }

    /// True if it is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value of a key; none if there is no such key. A whole number finds the same number of another type.
    pub fn get(&self, key: &Value<'a>) -> Option<Result<Value<'a>, Error>> {
        match (self, key) {
            (Self::Entries(entries), _) => entries.get(key).cloned().map(Ok),
            (Self::Document(object, shape), Value::String(name)) => shape.field(object, name),
            (Self::Document(_, shape), _) => shape.typed().then(|| Err(Error::no_such_overload())),
        }
    }

    /// True if the map is one of a document with a schema.
    pub fn is_typed(&self) -> bool {
        matches!(self, Self::Document(_, shape) if shape.typed())
    }

    /// The map without its schema.
    pub(crate) fn untyped(self) -> Self {
        match self {
            Self::Document(object, _) => Self::Document(object, &Dynamic),
            entries @ Self::Entries(_) => entries,
        }
    }

    /// The value of a key that is a string.
    pub fn field(&self, name: &str) -> Option<Result<Value<'a>, Error>> {
        match self {
            Self::Entries(entries) => entries.field(name).cloned().map(Ok),
            Self::Document(object, shape) => shape.field(object, name),
        }
    }

    /// The entries in order. Of a document, only the entries that its shape knows.
    pub fn iter(&self) -> Box<dyn Iterator<Item = (Value<'a>, Result<Value<'a>, Error>)> + '_> {
        match self {
            Self::Entries(entries) => Box::new(entries.iter().map(|(key, value)| (key.clone(), Ok(value.clone())))),
            Self::Document(object, shape) => {
                let (object, shape): (&'a Object, &'a dyn Shape) = (object, *shape);
                Box::new(object.keys().filter(|name| shape.knows(name)).filter_map(move |name| {
                    let key = shape.spelling(name);
                    let value = shape.field(object, &key)?;
                    Some((Value::String(key), value))
                }))
            }
        }
    }

    /// The keys in order. Of a document, only the keys that its shape knows.
    pub fn keys(&self) -> Box<dyn Iterator<Item = Value<'a>> + '_> {
        match self {
            Self::Entries(entries) => Box::new(entries.iter().map(|(key, _)| key.clone())),
            Self::Document(object, shape) => {
                let (object, shape): (&'a Object, &'a dyn Shape) = (object, *shape);
                let known = object.keys().filter(|name| shape.knows(name));
                Box::new(known.map(move |name| Value::String(shape.spelling(name))))
            }
        }
    }
}

impl<'m, 'a> IntoIterator for &'m Map<'a> {
    type Item = (Value<'a>, Result<Value<'a>, Error>);
    type IntoIter = Box<dyn Iterator<Item = Self::Item> + 'm>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'a> Entries<'a> {
    /// The bytes of an entry: itself, and its place in the index, with room to grow.
    pub(crate) const BYTES: usize = 2 * size_of::<(Value<'_>, Value<'_>)>() + 128;

    /// So many entries are searched one by one.
    const FEW: usize = 8;

    /// How many entries there are.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The entries in order.
    pub fn iter(&self) -> impl Iterator<Item = &(Value<'a>, Value<'a>)> {
        self.entries.iter()
    }

    /// The value of a key. A whole number finds the same number of another type.
    pub fn get(&self, key: &Value<'_>) -> Option<&Value<'a>> {
        let exact = self.position(key);
        let position = exact.or_else(|| match *key {
            Value::Int(int) => self.position(&Value::Uint(u64::try_from(int).ok()?)),
            Value::Uint(uint) => self.position(&Value::Int(i64::try_from(uint).ok()?)),
            Value::Double(double) => {
                let int = super::order::exact_int(double).and_then(|int| self.position(&Value::Int(int)));
                int.or_else(|| self.position(&Value::Uint(super::order::exact_uint(double)?)))
            }
            _ => None,
        });
        position.map(|position| &self.entries[position].1)
    }

    /// The value of a key that is a string.
    pub fn field(&self, name: &str) -> Option<&Value<'a>> {
        self.position(&Value::from(name)).map(|position| &self.entries[position].1)
    }

    /// True if there is exactly this key, of this type.
    pub(crate) fn has_exactly(&self, key: &Value<'_>) -> bool {
        self.position(key).is_some()
    }

    /// Sets the value of a key.
    pub fn insert(&mut self, key: Value<'a>, value: Value<'a>) {
        if let Some(position) = self.position(&key) {
            self.entries[position].1 = value;
            return;
        }
        if let Some(index) = &mut self.index {
            index.add(&key, self.entries.len());
        }
        self.entries.push((key, value));
        if self.index.is_none() && self.entries.len() > Self::FEW {
            self.reindex();
        }
    }

    /// Removes a key.
    pub fn remove(&mut self, key: &Value<'a>) {
        if let Some(position) = self.position(key) {
            self.entries.remove(position);
            if self.index.is_some() {
                self.reindex();
            }
        }
    }

    fn reindex(&mut self) {
        let mut index = Index::default();
        for (position, (key, _)) in self.entries.iter().enumerate() {
            index.add(key, position);
        }
        self.index = Some(index);
    }

    /// The position of exactly this key.
    fn position(&self, key: &Value<'_>) -> Option<usize> {
        match &self.index {
            None => self.entries.iter().position(|(own, _)| same_key(own, key)),
            Some(_) if !same_key(key, key) => None,
            Some(index) => {
                let positions = index.positions.get(&index.hash(key))?;
                positions.iter().copied().find(|position| same_key(&self.entries[*position].0, key))
            }
        }
    }
}

impl<'a> FromIterator<(Value<'a>, Value<'a>)> for Entries<'a> {
    fn from_iter<I: IntoIterator<Item = (Value<'a>, Value<'a>)>>(iter: I) -> Self {
        let mut entries = Self::default();
        for (key, value) in iter {
            entries.insert(key, value);
        }
        entries
    }
}

impl Index {
    /// Adds a key. One that equals not even itself is never found.
    fn add(&mut self, key: &Value<'_>, position: usize) {
        if !same_key(key, key) {
            return;
        }
        let hash = self.hash(key);
        self.positions.entry(hash).or_default().push(position);
    }

    fn hash(&self, key: &Value<'_>) -> u64 {
        let mut hasher = self.state.build_hasher();
        std::mem::discriminant(key).hash(&mut hasher);
        match key {
            Value::Bool(value) => value.hash(&mut hasher),
            Value::Int(value) => value.hash(&mut hasher),
            Value::Uint(value) => value.hash(&mut hasher),
            // Zero equals negative zero.
            Value::Double(value) => (value + 0.0).to_bits().hash(&mut hasher),
            Value::String(value) => value.hash(&mut hasher),
            Value::Bytes(value) => value.hash(&mut hasher),
            Value::Duration(value) => value.hash(&mut hasher),
            Value::Timestamp(value) => (value.seconds, value.nanoseconds).hash(&mut hasher),
            Value::Type(name) => name.hash(&mut hasher),
            _ => {}
        }
        hasher.finish()
    }
}

/// Keys of scalar types are the same if they have one type and are equal; others are never the same.
fn same_key(left: &Value<'_>, right: &Value<'_>) -> bool {
    match (left, right) {
        (Value::Null, Value::Null) => true,
        (Value::Bool(left), Value::Bool(right)) => left == right,
        (Value::Int(left), Value::Int(right)) => left == right,
        (Value::Uint(left), Value::Uint(right)) => left == right,
        #[expect(clippy::float_cmp, reason = "keys are compared exactly")]
        (Value::Double(left), Value::Double(right)) => left == right,
        (Value::String(left), Value::String(right)) => **left == **right,
        (Value::Bytes(left), Value::Bytes(right)) => **left == **right,
        (Value::Duration(left), Value::Duration(right)) => left == right,
        (Value::Timestamp(left), Value::Timestamp(right)) => {
            (left.seconds, left.nanoseconds) == (right.seconds, right.nanoseconds)
        }
        (Value::Type(left), Value::Type(right)) => left == right,
        _ => false,
    }
}
