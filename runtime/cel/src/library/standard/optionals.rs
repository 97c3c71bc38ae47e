//! Optional values. The evaluator itself knows what `or`, `orValue`, and indexes and selections of optional values do.
use super::error;
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
    [values(), accesses(), lists()].into_iter().flatten().collect()
}

fn optional_v() -> Type {
    Type::optional(v())
}

fn values() -> Vec<Function> {
    vec![
        Function::new("optional.of").global("optional_of", &[v()], optional_v()).does(|arguments, _| {
            arguments.first().map(|value| Value::optional(Some(value.clone()))).ok_or(Error::no_such_overload())
        }),
        Function::new("optional.ofNonZeroValue").global("optional_ofNonZeroValue", &[v()], optional_v()).does(
            |arguments, _| {
                let value = arguments.first().ok_or(Error::no_such_overload())?;
                Ok(Value::optional((!is_zero(value)).then(|| value.clone())))
            },
        ),
        Function::new("optional.none")
            .global("optional_none", &[], optional_v())
            .does(|_, _| Ok(Value::Optional(None))),
        Function::new("value").member("optional_value", &[optional_v()], v()).does(|arguments, _| match arguments {
            [Value::Optional(Some(value))] => Ok((**value).clone()),
            [Value::Optional(None)] => Err(error("optional.none() dereference")),
            _ => Err(Error::no_such_overload()),
        }),
        Function::new("hasValue").member("optional_hasValue", &[optional_v()], Type::Bool).does(|arguments, _| {
            let [Value::Optional(value)] = arguments else { return Err(Error::no_such_overload()) };
            Ok(Value::Bool(value.is_some()))
        }),
        Function::new("or")
            .member("optional_or_optional", &[optional_v(), optional_v()], optional_v())
            .costs(FREE_AT_RUN_TIME),
        Function::new("orValue").member("optional_orValue_value", &[optional_v(), v()], v()).costs(FREE_AT_RUN_TIME),
    ]
}

/// What the evaluator itself knows.
fn accesses() -> Vec<Function> {
    let (list, map, key) = (Type::list(v()), Type::map(Type::parameter("K"), v()), Type::parameter("K"));
    let of_list = [Type::optional(list.clone()), Type::Int];
    let of_map = [Type::optional(map.clone()), key.clone()];
    vec![
        Function::new("_?._").global("select_optional_field", &[Type::Dyn, Type::String], optional_v()),
        Function::new("_[?_]")
            .global("list_optindex_optional_int", &[list, Type::Int], optional_v())
            .global("optional_list_optindex_optional_int", &of_list, optional_v())
            .global("map_optindex_optional_value", &[map, key], optional_v())
            .global("optional_map_optindex_optional_value", &of_map, optional_v()),
        Function::new("_[_]").global("optional_list_index_int", &of_list, optional_v()).global(
            "optional_map_index_value",
            &of_map,
            optional_v(),
        ),
    ]
}

fn lists() -> Vec<Function> {
    let (list, optionals) = (|| Type::list(v()), || Type::list(optional_v()));
    vec![
        Function::new("last").member("list_last", &[list()], optional_v()).does(|arguments, _| {
            let [Value::List(list)] = arguments else { return Err(Error::no_such_overload()) };
            list.get(list.len().wrapping_sub(1)).transpose().map(Value::optional)
        }),
        Function::new("first").member("list_first", &[list()], optional_v()).does(|arguments, _| {
            let [Value::List(list)] = arguments else { return Err(Error::no_such_overload()) };
            list.get(0).transpose().map(Value::optional)
        }),
        Function::new("optional.unwrap").global("optional_unwrap", &[optionals()], list()).does(unwrap),
        Function::new("unwrapOpt").member("optional_unwrapOpt", &[optionals()], list()).does(unwrap),
    ]
}

/// Estimated as every call, and free when it runs.
const FREE_AT_RUN_TIME: Cost = Cost { estimate: Cost::ONE.estimate, charge: Cost::ZERO.charge };

/// The values of a list of optional values.
fn unwrap<'a>(arguments: &[Value<'a>], meter: &dyn Meter) -> Result<Value<'a>, Error> {
    let [Value::List(list)] = arguments else { return Err(Error::no_such_overload()) };
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
