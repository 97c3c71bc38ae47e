//! Loops with two variables: of an index and an element, or a key and a value.
use std::sync::Arc;

use super::grow_list;
use crate::{
    Error, Function, Library, Meter, Type, Value, syntax,
    value::{Entries, Map},
};

/// The only version.
pub static COMPREHENSIONS: Library = Library {
    name: "cel.lib.ext.comprev2",
    functions,
    macros: &syntax::TWO_VARIABLES,
    types: Vec::new,
    validators: &[],
};

fn functions() -> Vec<Function> {
    let (key, value) = (Type::parameter("K"), Type::parameter("V"));
    let map = Type::map(key.clone(), value.clone());
    vec![
        Function::new("cel.@mapInsert")
            .global("@mapInsert_map_key_value", &[map.clone(), key, value], map.clone())
            .does(|args, meter| match args {
                [Value::Map(map), key, value] => insert(map, [(key.clone(), Ok(value.clone()))], meter),
                _ => Err(Error::no_such_overload()),
            })
            .global("@mapInsert_map_map", &[map.clone(), map.clone()], map)
            .does(|args, meter| match args {
                [Value::Map(map), Value::Map(more)] => insert(map, more.iter(), meter),
                _ => Err(Error::no_such_overload()),
            }),
    ]
}

/// A map with further entries.
fn insert<'a>(
    map: &Map<'a>,
    more: impl IntoIterator<Item = (Value<'a>, Result<Value<'a>, Error>)>,
    meter: &dyn Meter,
) -> Result<Value<'a>, Error> {
    grow_list(meter, map.len(), 1)?;
    let mut entries = match map {
        Map::Entries(entries) => Entries::clone(entries),
        Map::Document(..) => map.iter().map(|(key, value)| Ok((key, value?))).collect::<Result<_, Error>>()?,
    };
    for (key, value) in more {
        if entries.get(&key).is_some() {
            return Err(Error::new(format!("insert failed: key {key} already exists")));
        }
        grow_list(meter, 0, 1)?;
        entries.insert(key, value?);
    }
    Ok(Value::Map(Map::Entries(Arc::new(entries))))
}
