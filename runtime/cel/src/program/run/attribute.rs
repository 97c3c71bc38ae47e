//! Attributes: variables, selections, indexes and choices.
use std::sync::Arc;

use super::{Evaluated, Run, Slot};
use crate::{
    Error, Value,
    program::plan::{Attribute, Choice, Key, Name, Node, Qualifier, Root, check_key},
    value::{List, Map, Octets, Text, exact_int},
};

/// A value on the way through an attribute, and if it is to become an optional one. None if something optional is absent.
type Step<'a> = Option<(Value<'a>, bool)>;

impl<'a> Run<'a, '_> {
    /// The value of an attribute, with the cost of its root.
    pub(super) fn attribute(&mut self, own: &'a Attribute) -> Evaluated<'a> {
        let before = self.cost;
        if let Root::Variable(name) = &own.root {
            if let Some(value) = self.fields(name, &own.qualifiers) {
                return value;
            }
            self.cost = before;
        }
        let value = self.resolve(own);
        if !matches!(own.root, Root::Choice(_)) {
            self.charge(1)?;
        }
        value
    }

    /// A variable or fields of a document, the usual attributes, by a short way. `None` if it is anything else.
    fn fields(&mut self, root: &'a Name, fields: &'a [Qualifier]) -> Option<Evaluated<'a>> {
        let mut value = match root {
            Name::Slot(slot, _) => match &self.slots[*slot] {
                Slot::Value(Ok(Value::Map(Map::Document(object, shape)))) => Value::Map(Map::Document(object, *shape)),
                Slot::Value(Ok(value)) if fields.is_empty() => value.clone(),
                _ => return None,
            },
            Name::Global(_) => self.name(root)?.ok()?,
            Name::Type(_) => return None,
        };
        if let Value::Optional(_) = value {
            return None;
        }
        for field in fields {
            let (Value::Map(Map::Document(object, shape)), Key::Constant(Value::String(name))) = (&value, &field.key)
            else {
                return None;
            };
            if field.optional || field.test {
                return None;
            }
            value = shape.field(object, name)?.ok()?;
            if let Err(error) = self.take(&value).and_then(|()| self.charge(1)) {
                return Some(Err(error));
            }
        }
        Some(self.charge(1).map(|()| value))
    }

    /// `a ? b : c`
    pub(super) fn choice(&mut self, own: &'a Choice) -> Evaluated<'a> {
        let condition = self.value(&own.condition)?;
        let branch = chosen(own, &condition)?;
        match &branch.root {
            Root::Expression(node) if branch.qualifiers.is_empty() => self.value(node).map(unwrapped),
            Root::Choice(choice) if branch.qualifiers.is_empty() => self.choice(choice),
            _ => self.resolve(branch),
        }
    }

    /// A presence test.
    pub(super) fn has(&mut self, own: &'a Attribute) -> Evaluated<'a> {
        let value = self.resolve(own);
        // Where presence tests are free, cel-go takes back what a root costs, although a conditional one costs nothing.
        match (self.presence_tests_cost, matches!(own.root, Root::Choice(_))) {
            (true, false) => self.charge(1)?,
            (false, true) => {
                self.cost = self.cost.wrapping_sub(1);
                self.charge(0)?;
            }
            (true, true) | (false, false) => {}
        }
        match value? {
            Value::Optional(value) => Ok(Value::Bool(value.is_some())),
            value => Ok(value),
        }
    }

    /// The value of an attribute. Its root is free.
    pub(super) fn resolve(&mut self, own: &'a Attribute) -> Evaluated<'a> {
        Ok(match self.qualified(own)? {
            Some((value, false)) => value,
            Some((value, true)) => Value::optional(Some(value)),
            None => Value::Optional(None),
        })
    }

    fn qualified(&mut self, own: &'a Attribute) -> Result<Step<'a>, Error> {
        let (root, skip) = match &own.root {
            Root::Variable(name) => (self.name(name).unwrap_or_else(|| Err(missing(std::slice::from_ref(name))))?, 0),
            Root::Candidates(candidates) => self.candidate(candidates, own.qualifiers.len())?,
            Root::Expression(node) => (self.value(node)?, 0),
            Root::Choice(choice) => {
                let branch = self.value(&choice.condition).and_then(|condition| chosen(choice, &condition))?;
                return match self.qualified(branch)? {
                    Some((value, optional)) => self.qualify(value, optional, &own.qualifiers),
                    None => Ok(None),
                };
            }
        };
        match root {
            Value::Optional(None) => Ok(None),
            Value::Optional(Some(value)) => self.qualify(native((*value).clone()), true, &own.qualifiers[skip..]),
            root => self.qualify(root, false, &own.qualifiers[skip..]),
        }
    }

    /// Applies selections and indexes.
    fn qualify(&mut self, mut value: Value<'a>, mut optional: bool, all: &'a [Qualifier]) -> Result<Step<'a>, Error> {
        for qualifier in all {
            optional |= qualifier.optional;
            let presence = optional || qualifier.test;
            let part = match &qualifier.key {
                Key::Constant(key) => self.part(&value, key, presence),
                Key::Attribute(key) => self.resolve(key).and_then(|key| self.checked_part(&value, &key, presence)),
                Key::Expression(key) => self.value(key).and_then(|key| self.checked_part(&value, &key, presence)),
            };
            if let (Ok(Some(part)), true) = (&part, is_of_document(&value)) {
                self.take(part)?;
            }
            let part = match part {
                Ok(part) => part,
                Err(error) => {
                    if !optional {
                        self.charge(1)?;
                    }
                    return Err(error);
                }
            };
            if optional && part.is_none() {
                return Ok(None);
            }
            self.charge(1)?;
            value = match part {
                Some(part) if optional || !qualifier.test => part,
                part => Value::Bool(part.is_some()),
            };
        }
        Ok(Some((value, optional)))
    }

    /// Reports what a value takes that is made when it is read: bytes are decoded, and what has no type is copied.
    pub(super) fn take(&mut self, value: &Value<'a>) -> Result<(), Error> {
        let bytes = match value {
            Value::Bytes(Octets::Shared(bytes)) => bytes.len(),
            Value::Opaque(value) => value.bytes(),
            _ => return Ok(()),
        };
        self.work(bytes / 8)?;
        self.meter.reserve(bytes)
    }

    fn checked_part(&mut self, value: &Value<'a>, key: &Value<'a>, presence: bool) -> Result<Option<Value<'a>>, Error> {
        check_key(key)?;
        self.read(std::slice::from_ref(key))?;
        self.part(value, key, presence)
    }

    /// A part of a value. If it is absent, that is an error unless presence is tested.
    fn part(&self, value: &Value<'a>, key: &Value<'a>, presence: bool) -> Result<Option<Value<'a>>, Error> {
        let part = match value {
            Value::Map(Map::Document(object, shape)) if let Value::String(name) = key => shape.field(object, name),
            Value::Map(map) => map.get(key),
            Value::List(list) => return element(list, key, presence),
            _ if presence && !self.bad_presence_tests_fail => None,
            _ => return Err(Error::new(format!("no such key: {key}"))),
        };
        match part {
            None if !presence => Err(Error::new(format!("no such key: {key}"))),
            part => part.transpose(),
        }
    }

    /// The value of a name, if there is one.
    fn name(&mut self, name: &'a Name) -> Option<Evaluated<'a>> {
        match name {
            Name::Global(name) => {
                let value = self.variables.variable(name)?;
                Some(value.and_then(|value| self.take(&value).map(|()| value)))
            }
            Name::Slot(slot, _) => self.slot(*slot),
            Name::Type(name) => Some(Ok(Value::Type(Arc::clone(name)))),
        }
    }

    /// The value of a loop's variable. The result of a loop begins when it is first read.
    pub(super) fn slot(&mut self, slot: usize) -> Option<Evaluated<'a>> {
        match &self.slots[slot] {
            Slot::Empty => None,
            Slot::Value(value) => Some(value.clone()),
            Slot::Pending(node) => {
                let node: &'a Node = node;
                self.slots[slot] = Slot::Empty;
                let value = self.value(node);
                self.slots[slot] = Slot::Value(value.clone());
                Some(value)
            }
        }
    }

    /// The first of the names that a name may be which has a value, and the number of qualifiers that are part of it.
    fn candidate(
        &mut self,
        candidates: &'a [(Vec<Name>, usize)],
        qualifiers: usize,
    ) -> Result<(Value<'a>, usize), Error> {
        for (names, skip) in candidates {
            for name in names {
                if matches!(name, Name::Type(_)) && *skip < qualifiers {
                    continue;
                }
                if let Some(value) = self.name(name) {
                    return Ok((value?, *skip));
                }
            }
        }
        Err(missing(&candidates[0].0))
    }
}

/// True if the parts of a value are made when they are read.
fn is_of_document(value: &Value<'_>) -> bool {
    match value {
        Value::Map(map) => matches!(map, Map::Document(..)),
        Value::List(list) => list.shape().is_some(),
        _ => false,
    }
}

fn chosen<'a>(own: &'a Choice, condition: &Value<'_>) -> Result<&'a Attribute, Error> {
    match condition {
        Value::Bool(true) => Ok(&own.left),
        Value::Bool(false) => Ok(&own.right),
        _ => Err(Error::no_such_overload()),
    }
}

/// An optional value as attributes give it.
fn unwrapped(value: Value<'_>) -> Value<'_> {
    match value {
        Value::Optional(Some(value)) => Value::optional(Some(native((*value).clone()))),
        value => value,
    }
}

fn missing(names: &[Name]) -> Error {
    let names: Vec<&str> = names
        .iter()
        .map(|name| match name {
            Name::Global(name) | Name::Slot(_, name) | Name::Type(name) => &**name,
        })
        .collect();
    Error::new(format!("no such attribute(s): {}", names.join(", ")))
}

/// An element of a list.
fn element<'a>(list: &List<'a>, key: &Value<'a>, presence: bool) -> Result<Option<Value<'a>>, Error> {
    let index = match key {
        Value::Int(int) => Some(*int),
        Value::Uint(uint) => i64::try_from(*uint).ok(),
        Value::Double(double) => exact_int(*double),
        other => {
            return Err(Error::new(format!("unsupported index type '{}' in list", other.type_name())));
        }
    };
    let Some(index) = index else { return Err(Error::new(format!("unsupported index value {key} in list"))) };
    let item = usize::try_from(index).ok().and_then(|index| list.get(index));
    if item.is_some() && list.is_typed() && !matches!(key, Value::Int(_)) {
        return Err(Error::new(format!("unsupported index: {key}")));
    }
    match item {
        None if !presence => Err(Error::new(format!("index out of bounds: {key}"))),
        item => item.transpose(),
    }
}

/// The value inside of an optional one with which an attribute begins. As in kube-apiserver, it is read without its schema, and what cel-go
/// has no value of Go for becomes another one: an optional value what is in it, a type its name.
fn native(value: Value<'_>) -> Value<'_> {
    match value {
        Value::List(list) => Value::List(list.untyped()),
        Value::Map(map) => Value::Map(map.untyped()),
        Value::Optional(Some(value)) => native((*value).clone()),
        Value::Optional(None) => Value::Null,
        Value::Type(name) => Value::String(Text::Shared(name)),
        value => value,
    }
}
