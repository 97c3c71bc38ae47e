//! Lists and maps, and what loops add to theirs.
use std::sync::Arc;

use super::{Evaluated, Run, Slot};
use crate::{
    Error, Value,
    program::plan::{Accumulation, Element, Entry, Node},
    value::{Entries, Map},
};

/// What it costs to make a list or a map.
const LIST: u64 = 10;
const MAP: u64 = 30;

/// What is appended to a list.
enum Addend<'a> {
    Item(Value<'a>),
    List(Value<'a>),
}

impl<'a> Addend<'a> {
    fn into_list(self) -> Value<'a> {
        match self {
            Self::Item(item) => Value::list(vec![item]),
            Self::List(list) => list,
        }
    }
}

impl<'a> Run<'a, '_> {
    pub(super) fn list(&mut self, elements: &'a [Element]) -> Evaluated<'a> {
        let values = self.elements(elements);
        self.made(values, LIST).map(Value::list)
    }

    pub(super) fn map(&mut self, entries: &'a [Entry]) -> Evaluated<'a> {
        let entries = self.entries(entries);
        self.made(entries, MAP).map(|entries| Value::Map(Map::Entries(Arc::new(entries))))
    }

    /// Charges for a list or map, even if a part failed.
    fn made<T>(&mut self, parts: Result<T, Error>, cost: u64) -> Result<T, Error> {
        match parts {
            Err(error) if error.is_fatal() => Err(error),
            parts => {
                self.charge(cost)?;
                parts
            }
        }
    }

    fn elements(&mut self, elements: &'a [Element]) -> Result<Vec<Value<'a>>, Error> {
        self.meter.reserve(elements.len() * size_of::<Value<'_>>())?;
        let mut values = Vec::with_capacity(elements.len());
        for element in elements {
            let value = self.value(&element.value)?;
            match value {
                value if !element.optional => values.push(value),
                Value::Optional(Some(value)) => values.push((*value).clone()),
                Value::Optional(None) => {}
                value => {
                    let message = "cannot initialize optional list element from non-optional value";
                    return Err(Error::new(format!("{message} {value}")));
                }
            }
        }
        Ok(values)
    }

    fn entries(&mut self, own: &'a [Entry]) -> Result<Entries<'a>, Error> {
        self.meter.reserve(own.len() * Entries::BYTES)?;
        let mut entries = Entries::default();
        for entry in own {
            let key = self.value(&entry.key)?;
            self.read(std::slice::from_ref(&key))?;
            let value = self.value(&entry.value)?;
            if matches!(key, Value::Bytes(_)) {
                return Err(Error::new("internal error: runtime error: hash of unhashable type types.Bytes"));
            }
            match value {
                value if !entry.optional => entries.insert(key, value),
                Value::Optional(Some(value)) => entries.insert(key, (*value).clone()),
                Value::Optional(None) => {
                    // The entries after it move.
                    self.work(entries.len())?;
                    entries.remove(&key);
                }
                value => {
                    let message = "cannot initialize optional entry";
                    return Err(Error::new(format!("{message} '{key}' from non-optional value {value}")));
                }
            }
        }
        Ok(entries)
    }

    /// Adds to the list or map of a loop in place.
    pub(super) fn accumulate(&mut self, own: &'a Accumulation) -> Evaluated<'a> {
        // Reading the variable costs as in other places. Its value stays where it is.
        let begun = match &self.slots[own.slot] {
            Slot::Value(Ok(_)) => Ok(()),
            _ => self.begin(own),
        };
        self.charge(1)?;
        if let Err(error) = begun {
            return self.failed(own, error);
        }
        if own.insert { self.insert(own) } else { self.append(own) }
    }

    fn begin(&mut self, own: &'a Accumulation) -> Result<(), Error> {
        let missing = || Err(Error::new(format!("no such attribute(s): {}", own.name)));
        self.slot(own.slot).unwrap_or_else(missing).map(drop)
    }

    /// The loop's value failed before. Calls with two arguments evaluate the other one, too.
    fn failed(&mut self, own: &'a Accumulation, error: Error) -> Evaluated<'a> {
        if error.is_fatal() {
            return Err(error);
        }
        if let [argument] = &*own.arguments {
            let other = self.value(argument);
            if let Err(error) = &other
                && error.is_fatal()
            {
                return other;
            }
            self.charge((own.charge)(&[Value::Null, other.unwrap_or(Value::Null)], Err(&error)))?;
        }
        Err(error)
    }

    fn append(&mut self, own: &'a Accumulation) -> Evaluated<'a> {
        let argument: &'a Node = &own.arguments[0];
        if let Node::List(elements) = argument
            && let [Element { value, optional: false }] = &**elements
        {
            let item = self.value(value);
            let item = self.made(item, LIST);
            return self.appended(own, item.map(Addend::Item));
        }
        let list = self.value(argument);
        self.appended(own, list.map(Addend::List))
    }

    fn appended(&mut self, own: &'a Accumulation, addend: Result<Addend<'a>, Error>) -> Evaluated<'a> {
        let addend = match addend {
            Err(error) if error.is_fatal() => return Err(error),
            Err(error) => {
                self.charge((own.charge)(&[Value::Null, Value::Null], Err(&error)))?;
                return Err(error);
            }
            Ok(addend) => addend,
        };
        let Slot::Value(Ok(accumulator)) = std::mem::replace(&mut self.slots[own.slot], Slot::Empty) else {
            return Err(Error::no_such_overload());
        };
        let mut list = match accumulator {
            Value::List(list) if list.is_computed() => list,
            other => return self.plain(own, &[other, addend.into_list()]),
        };
        let reserve = |elements: usize| self.meter.reserve(elements * size_of::<Value<'_>>());
        match addend {
            Addend::Item(item) => {
                reserve(1)?;
                list.push(item);
            }
            Addend::List(Value::List(items)) if items.is_computed() => {
                reserve(items.len())?;
                self.work(items.len())?;
                for item in items.iter() {
                    list.push(item?);
                }
            }
            addend @ Addend::List(_) => return self.plain(own, &[Value::List(list), addend.into_list()]),
        }
        self.charge((own.charge)(&[Value::Null, Value::Null], Ok(&Value::Null)))?;
        Ok(Value::List(list))
    }

    /// Without growing in place.
    fn plain(&mut self, own: &'a Accumulation, arguments: &[Value<'a>]) -> Evaluated<'a> {
        let function = if own.insert { "cel.@mapInsert" } else { "_+_" };
        let result = self.apply(&own.target, function, arguments);
        self.read(arguments)?;
        self.charge((own.charge)(arguments, result.as_ref()))?;
        result
    }

    fn insert(&mut self, own: &'a Accumulation) -> Evaluated<'a> {
        let mut arguments = Vec::with_capacity(2);
        for argument in &own.arguments {
            match self.value(argument) {
                Ok(argument) => arguments.push(argument),
                // Calls with three arguments cost nothing unless all were evaluated.
                Err(error) if error.is_fatal() || arguments.len() + 1 < own.arguments.len() => return Err(error),
                Err(error) => {
                    self.charge((own.charge)(&[Value::Null, Value::Null], Err(&error)))?;
                    return Err(error);
                }
            }
        }
        let Slot::Value(Ok(accumulator)) = std::mem::replace(&mut self.slots[own.slot], Slot::Empty) else {
            return Err(Error::no_such_overload());
        };
        let Value::Map(Map::Entries(mut entries)) = accumulator else {
            arguments.insert(0, accumulator);
            return self.plain(own, &arguments);
        };
        let more = if let [Value::Map(map)] = &*arguments { map.len() } else { 1 };
        self.meter.reserve(more.saturating_mul(Entries::BYTES))?;
        self.work(more)?;
        self.read(&arguments)?;
        let result = match <[Value<'a>; 2]>::try_from(arguments) {
            Ok([key, value]) => insert(Arc::make_mut(&mut entries), key, value),
            Err(arguments) => match arguments.into_iter().next() {
                Some(Value::Map(map)) => insert_all(Arc::make_mut(&mut entries), &map),
                _ => Err(Error::no_such_overload()),
            },
        };
        self.charge((own.charge)(&[Value::Null, Value::Null], Ok(&Value::Null)))?;
        result.map(|()| Value::Map(Map::Entries(entries)))
    }
}

fn insert_all<'a>(entries: &mut Entries<'a>, map: &Map<'a>) -> Result<(), Error> {
    for (key, value) in map {
        insert(entries, key, value?)?;
    }
    Ok(())
}

/// Adds an entry whose key is new.
fn insert<'a>(entries: &mut Entries<'a>, key: Value<'a>, value: Value<'a>) -> Result<(), Error> {
    if entries.get(&key).is_some() {
        return Err(Error::new(format!("insert failed: key {key} already exists")));
    }
    entries.insert(key, value);
    Ok(())
}
