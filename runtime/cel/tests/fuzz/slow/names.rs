//! The functions and types of an environment, and the words that errors have for values.
use std::collections::{HashMap, HashSet};

use kindsmith_cel::{Error, Function, Library, Value};

use super::Evaluated;

/// The functions and types of libraries.
pub(crate) struct Names {
    pub(crate) functions: HashMap<String, Function>,
    pub(crate) types: HashSet<&'static str>,
}

impl Names {
    pub(crate) fn new(libraries: &[&Library]) -> Self {
        let mut functions: HashMap<String, Function> = HashMap::new();
        for function in libraries.iter().flat_map(|library| (library.functions)()) {
            let known = functions.entry((*function.name).to_owned()).or_insert_with(|| Function::new(&function.name));
            for overload in function.overloads {
                match known.overloads.iter_mut().find(|own| own.id == overload.id) {
                    Some(own) => *own = overload,
                    None => known.overloads.push(overload),
                }
            }
        }
        // The checker alone knows the names of messages, and the short ones of these two.
        let has_values = |name: &&str| {
            let is_message =
                name.starts_with("google.protobuf.") && !name.ends_with(".Duration") && !name.ends_with(".Timestamp");
            !is_message && !matches!(*name, "duration" | "timestamp")
        };
        let types = libraries.iter().flat_map(|library| (library.types)()).map(|(name, _)| name);
        let types = types.filter(has_values).collect();
        Self { functions, types }
    }
}

type Items<'a> = Vec<(Evaluated<'a>, Option<Evaluated<'a>>)>;

/// What a loop visits: the elements of a list or the keys of a map; or both the indexes and elements, or the keys and values.
pub(super) fn items<'a>(range: &Value<'a>, two: bool) -> Result<Items<'a>, Error> {
    Ok(match range {
        Value::List(list) if two => {
            let indexes = (0..).map(|index| Ok(Value::Int(index)));
            indexes.zip(list.iter().map(Some)).collect()
        }
        Value::List(list) => list.iter().map(|item| (item, None)).collect(),
        Value::Map(map) if two => map.iter().map(|(key, value)| (Ok(key), Some(value))).collect(),
        Value::Map(map) => map.keys().map(|key| (Ok(key), None)).collect(),
        other if two => return Err(Error::new(format!("unsupported comprehension range type: {}", go_type(other)))),
        other => return Err(Error::new(format!("got '{}', expected iterable type", go_type(other)))),
    })
}

/// The name of a value's type in Go.
pub(super) fn go_type(value: &Value<'_>) -> String {
    let name = match value {
        Value::Null => "Null",
        Value::Bool(_) => "Bool",
        Value::Int(_) => "Int",
        Value::Uint(_) => "Uint",
        Value::Double(_) => "Double",
        Value::String(_) => "String",
        Value::Bytes(_) => "Bytes",
        Value::Duration(_) => "Duration",
        Value::Timestamp(_) => "Timestamp",
        Value::List(_) => return "*types.baseList".to_owned(),
        Value::Map(_) => return "*types.baseMap".to_owned(),
        Value::Optional(_) => return "*types.Optional".to_owned(),
        Value::Type(_) => return "*types.Type".to_owned(),
        Value::Opaque(value) => return value.type_name().to_owned(),
    };
    format!("types.{name}")
}

/// True if a value can be an index.
///
/// # Errors
/// It cannot.
pub(super) fn check_key(key: &Value<'_>) -> Result<(), Error> {
    match key {
        Value::String(_) | Value::Int(_) | Value::Uint(_) | Value::Bool(_) | Value::Double(_) => Ok(()),
        other => Err(Error::new(format!("invalid qualifier type: {}", go_type(other)))),
    }
}
