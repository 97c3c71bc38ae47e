//! Optional values. The evaluator itself knows what `or`, `orValue`, and indexes and selections of optional values do.
use super::{error, no_such_overload};
use crate::{Cost, Error, Function, Library, Meter, Type, Value, syntax};

/// The library of optional values, in its newest version.
pub static OPTIONALS: Library = Library {
    name: "cel.lib.optional",
    functions,
    macros: &syntax::OPTIONAL,
    types: || vec![(Type::OPTIONAL, Type::opaque(Type::OPTIONAL))],
    validators: &[],
};

fn v() -> Type {
    Type::parameter("V")
}

fn functions() -> Vec<Function> {
    let (optional, list, map) = (Type::optional(v()), Type::list(v()), Type::map(Type::parameter("K"), v()));
    let (optional_list, optional_map) = (Type::optional(list.clone()), Type::optional(map.clone()));
    let (key, optionals) = (Type::parameter("K"), Type::list(optional.clone()));
    vec![
        Function::new("optional.of").global("optional_of", &[v()], optional.clone()).does(|arguments, _| {
            arguments.first().map(|value| Value::optional(Some(value.clone()))).ok_or(no_such_overload())
        }),
        Function::new("optional.ofNonZeroValue").global("optional_ofNonZeroValue", &[v()], optional.clone()).does(
            |arguments, _| {
                let value = arguments.first().ok_or(no_such_overload())?;
                Ok(Value::optional((!is_zero(value)).then(|| value.clone())))
            },
        ),
        Function::new("optional.none")
            .global("optional_none", &[], optional.clone())
            .does(|_, _| Ok(Value::Optional(None))),
        Function::new("value").member("optional_value", &[optional.clone()], v()).does(
            |arguments, _| match arguments {
                [Value::Optional(Some(value))] => Ok((**value).clone()),
                [Value::Optional(None)] => Err(error("optional.none() dereference")),
                _ => Err(no_such_overload()),
            },
        ),
        Function::new("hasValue").member("optional_hasValue", &[optional.clone()], Type::Bool).does(|arguments, _| {
            let [Value::Optional(value)] = arguments else { return Err(no_such_overload()) };
            Ok(Value::Bool(value.is_some()))
        }),
        Function::new("or")
            .member("optional_or_optional", &[optional.clone(), optional.clone()], optional.clone())
            .costs(LATER_FREE),
        Function::new("orValue").member("optional_orValue_value", &[optional.clone(), v()], v()).costs(LATER_FREE),
        Function::new("_?._").global("select_optional_field", &[Type::Dyn, Type::String], optional.clone()),
        Function::new("_[?_]")
            .global("list_optindex_optional_int", &[list.clone(), Type::Int], optional.clone())
            .global("optional_list_optindex_optional_int", &[optional_list.clone(), Type::Int], optional.clone())
            .global("map_optindex_optional_value", &[map, key.clone()], optional.clone())
            .global("optional_map_optindex_optional_value", &[optional_map.clone(), key.clone()], optional.clone()),
        Function::new("_[_]").global("optional_list_index_int", &[optional_list, Type::Int], optional.clone()).global(
            "optional_map_index_value",
            &[optional_map, key],
            optional.clone(),
        ),
        Function::new("last").member("list_last", &[list.clone()], optional.clone()).does(|arguments, _| {
            let [Value::List(list)] = arguments else { return Err(no_such_overload()) };
            list.get(list.len().wrapping_sub(1)).transpose().map(Value::optional)
        }),
        Function::new("first").member("list_first", &[list.clone()], optional).does(|arguments, _| {
            let [Value::List(list)] = arguments else { return Err(no_such_overload()) };
            list.get(0).transpose().map(Value::optional)
        }),
        Function::new("optional.unwrap").global("optional_unwrap", &[optionals.clone()], list.clone()).does(unwrap),
        Function::new("unwrapOpt").member("optional_unwrapOpt", &[optionals], list).does(unwrap),
    ]
}

/// Estimated as every call, and free when it runs.
const LATER_FREE: Cost = Cost { estimate: Cost::ONE.estimate, charge: Cost::ZERO.charge };

/// The values of a list of optional values.
fn unwrap<'a>(arguments: &[Value<'a>], meter: &dyn Meter) -> Result<Value<'a>, Error> {
    let [Value::List(list)] = arguments else { return Err(no_such_overload()) };
    meter.spend(list.len())?;
    let mut values = Vec::new();
    for item in list.iter() {
        match item? {
            Value::Optional(Some(value)) => values.push((*value).clone()),
            Value::Optional(None) => {}
            other => return Err(Error::new(format!("value {other} is not optional"))),
        }
    }
    Ok(Value::list(values))
}

/// True for the value that a type has by default. The time of that value is the beginning of year 1.
fn is_zero(value: &Value<'_>) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(value) => !value,
        Value::Int(value) => *value == 0,
        Value::Uint(value) => *value == 0,
        Value::Double(value) => *value == 0.0,
        Value::Duration(value) => value.nanoseconds == 0,
        Value::Timestamp(value) => value.is_zero(),
        Value::String(_) | Value::Bytes(_) | Value::List(_) | Value::Map(_) => value.size() == 0,
        Value::Optional(_) | Value::Type(_) | Value::Opaque(_) => false,
    }
}
