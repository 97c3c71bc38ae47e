//! Equality, and sets and lists with keys, which are equal in any order and whose sums merge.
//!
//! Parts of documents keep kube-apiserver's ways: the left side decides how lists compare, and comparing a list or object of a document
//! with a value of another type is an error. So it is for values of Kubernetes' own types.
use std::{
    cmp::Ordering,
    collections::{HashMap, HashSet},
};

use super::{Element, Json, List, ListKind, Map, Object, Shape, Value};
use crate::{Error, Meter};

impl Value<'_> {
    /// True if two values are equal, with numbers compared across their types.
    ///
    /// # Errors
    /// A part of a document cannot be read or compared, or the meter ends the evaluation.
    pub fn equals(&self, other: &Self, meter: &dyn Meter) -> Result<bool, Error> {
        self.equals_within(other, Visit { meter, depth: 0 })
    }

    /// As [`Value::equals`], where the left value alone decides: a list or object of a document does not compare with `null`.
    pub(crate) fn equals_as_left(&self, other: &Self, meter: &dyn Meter) -> Result<bool, Error> {
        self.equals_as_left_within(other, Visit { meter, depth: 0 })
    }

    fn equals_within(&self, other: &Self, visit: Visit<'_>) -> Result<bool, Error> {
        match (self, other) {
            (Self::Null, Self::Null) => Ok(true),
            (Self::Null, _) | (_, Self::Null) => Ok(false),
            _ => self.equals_as_left_within(other, visit),
        }
    }

    fn equals_as_left_within(&self, other: &Self, visit: Visit<'_>) -> Result<bool, Error> {
        Ok(match (self, other) {
            (Self::Null, Self::Null) => true,
            (Self::Bool(left), Self::Bool(right)) => left == right,
            (Self::String(left), Self::String(right)) => same_bytes(left.as_bytes(), right.as_bytes(), visit.meter)?,
            (Self::Bytes(left), Self::Bytes(right)) => same_bytes(left, right, visit.meter)?,
            (Self::Duration(left), Self::Duration(right)) => left == right,
            (Self::Timestamp(left), Self::Timestamp(right)) => {
                (left.seconds, left.nanoseconds) == (right.seconds, right.nanoseconds)
            }
            (Self::Type(left), Self::Type(right)) => left == right,
            (Self::Optional(left), Self::Optional(right)) => match (left, right) {
                (None, None) => true,
                (Some(left), Some(right)) => left.equals_as_left_within(right, visit.deeper()?)?,
                _ => false,
            },
            (Self::Opaque(left), Self::Opaque(right))
                if left.type_name() == right.type_name() && right.is_right_operand() =>
            {
                visit.meter.spend(left.bytes() / 64)?;
                left.equals(right.as_ref())
            }
            (Self::Opaque(_), _) => return Err(Error::no_such_overload()),
            (Self::List(left), Self::List(right)) => return left.equals(right, visit.deeper()?),
            (Self::Map(left), Self::Map(right)) => return left.equals(right, visit.deeper()?),
            (Self::List(left), _) if left.is_typed() => return Err(Error::no_such_overload()),
            (Self::Map(left), _) if left.is_typed() => return Err(Error::no_such_overload()),
            _ => self.compare_numbers(other) == Some(Ordering::Equal),
        })
    }
}

/// The meter of a comparison, and how deep the compared values are within others.
#[derive(Clone, Copy)]
struct Visit<'m> {
    meter: &'m dyn Meter,
    depth: usize,
}

impl Visit<'_> {
    fn deeper(self) -> Result<Self, Error> {
        if self.depth > Value::DEEPEST { Err(Error::interrupted()) } else { Ok(Self { depth: self.depth + 1, ..self }) }
    }
}

/// Reports long comparisons.
fn same_bytes(left: &[u8], right: &[u8], meter: &dyn Meter) -> Result<bool, Error> {
    if left.len() != right.len() {
        return Ok(false);
    }
    if left.len() >= 1024 {
        meter.spend(left.len() / 512)?;
    }
    Ok(left == right)
}

impl List<'_> {
    fn equals(&self, other: &Self, visit: Visit<'_>) -> Result<bool, Error> {
        if self.len() != other.len() {
            return Ok(false);
        }
        visit.meter.spend(self.len().saturating_mul(2))?;
        read_keys(self.kind, self, visit.meter)?;
        read_keys(self.kind, other, visit.meter)?;
        match self.kind {
            ListKind::Set => {
                let own: HashSet<_> = self.elements().filter_map(|element| Key::of(&element)).collect();
                let key = |item: Result<Value<'_>, Error>| item.ok().and_then(|item| Key::of_value(&item));
                Ok(other.iter().all(|item| key(item).is_some_and(|key| own.contains(&key))))
            }
            ListKind::Map(keys) => self.equals_by_keys(keys, other, visit),
            ListKind::Atomic => self.equals_in_order(other, visit),
        }
    }

    fn equals_in_order(&self, other: &Self, visit: Visit<'_>) -> Result<bool, Error> {
        let document = self.is_typed();
        let computed = self.is_computed();
        let mut failure = None;
        for (left, right) in self.iter().zip(other.iter()) {
            let equal = match (left, right) {
                (Ok(left), Ok(right)) if document => left.equals_as_left_within(&right, visit),
                (Ok(left), Ok(right)) => left.equals_within(&right, visit),
                (Ok(left), Err(error)) => left.equals_failure(error),
                (Err(error), _) => Err(error),
            };
            match equal {
                Ok(true) => {}
                Ok(false) => return Ok(false),
                Err(error) if document || error.is_fatal() => return Err(error),
                // cel-go's own lists take no notice of such errors, except sums.
                Err(_) if computed => {}
                Err(error) => failure = failure.or(Some(error)),
            }
        }
        failure.map_or(Ok(true), Err)
    }

    fn equals_by_keys(&self, keys: &[String], other: &Self, visit: Visit<'_>) -> Result<bool, Error> {
        let positions = positions(keys, self.elements());
        for element in other.elements() {
            let index = keys_of(keys, &element).and_then(|keys| positions.get(&keys));
            let Some(index) = index else { return Ok(false) };
            let left = self.get(*index).expect("it is a position of this list")?;
            let equal = match element.read(other.shape()) {
                Ok(right) => left.equals_as_left_within(&right, visit),
                Err(error) => left.equals_failure(error),
            };
            if !equal? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl Value<'_> {
    /// A value compared with one that cannot be read: lists and objects of documents fail, too, others differ from it.
    fn equals_failure(&self, error: Error) -> Result<bool, Error> {
        let document = match self {
            Self::List(list) => list.is_typed(),
            Self::Map(map) => map.is_typed(),
            _ => false,
        };
        if document { Err(error) } else { Ok(false) }
    }
}

impl Map<'_> {
    fn equals(&self, other: &Self, visit: Visit<'_>) -> Result<bool, Error> {
        if self.len() != other.len() {
            return Ok(false);
        }
        visit.meter.spend(self.len().saturating_mul(2))?;
        match self {
            Self::Entries(entries) => {
                for (key, value) in entries.iter() {
                    let equal = match other.get(key) {
                        None => return Ok(false),
                        Some(Ok(right)) => value.equals_within(&right, visit),
                        Some(Err(error)) => value.equals_failure(error),
                    };
                    match equal {
                        Ok(false) => return Ok(false),
                        Err(error) if error.is_fatal() => return Err(error),
                        // cel-go's own maps take no notice of such errors.
                        Ok(true) | Err(_) => {}
                    }
                }
                Ok(true)
            }
            Self::Document(object, shape) => equal_objects(object, *shape, other, visit),
        }
    }
}

/// Known fields are equal by value, others by their JSON if both sides have them.
fn equal_objects(object: &Object, shape: &dyn Shape, other: &Map<'_>, visit: Visit<'_>) -> Result<bool, Error> {
    for (name, json) in object {
        if shape.compares_json(name) {
            let Map::Document(right, _) = other else { return Err(Error::no_such_overload()) };
            if let Some(right) = right.get(name)
                && !same_json(json, right, visit.meter)?
            {
                return Ok(false);
            }
            continue;
        }
        let equal = match (shape.field(object, name), other.field(name)) {
            (None, None) => Ok(true),
            (None, Some(_)) | (Some(_), None) => return Ok(false),
            (Some(Ok(left)), Some(Ok(right))) => left.equals_as_left_within(&right, visit),
            (Some(Ok(left)), Some(Err(error))) => left.equals_failure(error),
            (Some(Err(error)), Some(_)) => Err(error),
        };
        if !equal? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Deep equality, which is reported.
fn same_json(left: &Json, right: &Json, meter: &dyn Meter) -> Result<bool, Error> {
    match (left, right) {
        (Json::Array(left), Json::Array(right)) => {
            meter.spend(left.len())?;
            if left.len() != right.len() {
                return Ok(false);
            }
            for (left, right) in left.iter().zip(right) {
                if !same_json(left, right, meter)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        (Json::Object(left), Json::Object(right)) => {
            meter.spend(left.len())?;
            if left.len() != right.len() {
                return Ok(false);
            }
            for (name, left) in left {
                let Some(right) = right.get(name) else { return Ok(false) };
                if !same_json(left, right, meter)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        (Json::String(left), Json::String(right)) => same_bytes(left.as_bytes(), right.as_bytes(), meter),
        _ => Ok(left == right),
    }
}

/// A scalar as kube-apiserver looks it up in sets: the same number is not equal as `int` and as `double`. Times, lists and objects have no
/// key: they never equal an element of a set.
#[derive(Debug, PartialEq, Eq, Hash)]
enum Key {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(u64),
    String(String),
}

impl Key {
    fn of(element: &Element<'_>) -> Option<Self> {
        match element {
            Element::Document(json, _) => Self::of_json(json),
            Element::Value(value) => Self::of_value(value),
        }
    }

    fn of_json(json: &Json) -> Option<Self> {
        Some(match json {
            Json::Null => Self::Null,
            Json::Bool(value) => Self::Bool(*value),
            Json::Number(number) => match (number.as_i64(), number.as_u64()) {
                (Some(int), _) => Self::Int(int),
                (None, Some(uint)) => Self::Uint(uint),
                (None, None) => Self::double(number.as_f64()?),
            },
            Json::String(text) => Self::String(text.clone()),
            Json::Array(_) | Json::Object(_) => return None,
        })
    }

    fn of_value(value: &Value<'_>) -> Option<Self> {
        Some(match value {
            Value::Bool(value) => Self::Bool(*value),
            Value::Int(value) => Self::Int(*value),
            Value::Uint(value) => Self::Uint(*value),
            Value::Double(value) => Self::double(*value),
            Value::String(text) => Self::String(text.to_string()),
            _ => return None,
        })
    }

    /// Zero equals negative zero.
    fn double(value: f64) -> Self {
        Self::Double((value + 0.0).to_bits())
    }
}

/// Reports the texts of the keys by which the elements of a list are found, which are copied.
pub(super) fn read_keys(kind: ListKind<'_>, list: &List<'_>, meter: &dyn Meter) -> Result<(), Error> {
    let length = |element: Element<'_>| match (kind, &element) {
        (ListKind::Set, Element::Document(Json::String(text), _)) => text.len(),
        (ListKind::Set, Element::Value(Value::String(text))) => text.len(),
        (ListKind::Map(names), _) => {
            let object = object_of(&element);
            let texts = names.iter().filter_map(|name| object?.get(name)?.as_str());
            texts.map(str::len).sum()
        }
        _ => 0,
    };
    match kind {
        ListKind::Atomic => Ok(()),
        ListKind::Set | ListKind::Map(_) => meter.spend(list.elements().map(length).sum::<usize>() / 64),
    }
}

fn object_of<'a>(element: &Element<'a>) -> Option<&'a Object> {
    match element {
        Element::Document(Json::Object(object), _) => Some(object),
        Element::Value(Value::Map(Map::Document(object, _))) => Some(object),
        _ => None,
    }
}

/// The keys of an element of a list with keys; none if it is not an object of a document, or has a list or object as a key.
fn keys_of(names: &[String], element: &Element<'_>) -> Option<Vec<Key>> {
    let object = object_of(element)?;
    names.iter().map(|name| object.get(name).map_or(Some(Key::Null), Key::of_json)).collect()
}

/// The positions of elements by their keys; of equal keys the last.
fn positions<'a>(names: &[String], elements: impl Iterator<Item = Element<'a>>) -> HashMap<Vec<Key>, usize> {
    elements.enumerate().filter_map(|(index, element)| Some((keys_of(names, &element)?, index))).collect()
}

/// Adds the elements of a list to those of a set or a list with keys.
pub(super) fn merge<'a>(kind: ListKind<'a>, elements: &mut Vec<Element<'a>>, other: &List<'a>) {
    match kind {
        ListKind::Atomic => elements.extend(other.elements()),
        ListKind::Set => {
            let mut own: HashSet<_> = elements.iter().filter_map(Key::of).collect();
            for element in other.elements() {
                let key = element.read(other.shape()).ok().and_then(|value| Key::of_value(&value));
                if key.is_none_or(|key| own.insert(key)) {
                    elements.push(element);
                }
            }
        }
        ListKind::Map(names) => {
            let own = positions(names, elements.iter().cloned());
            for element in other.elements() {
                match keys_of(names, &element).and_then(|keys| own.get(&keys)) {
                    Some(position) => elements[*position] = element,
                    None => elements.push(element),
                }
            }
        }
    }
}
