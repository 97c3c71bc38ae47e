//! The functions of the language itself, in the order of cel-go's standard library: their signatures, what they do and what they cost.
//!
//! A function whose overloads all do the same is a [singleton](Function::singleton): it is called whatever its arguments are, and gives
//! the errors of arguments that do not fit itself. `optionals` is the library of optional values.
use std::borrow::Cow;

use crate::{Error, Failure, Function, Library, Type, Value, syntax};

mod arithmetic;
mod collections;
mod comparison;
mod conversion;
mod logic;
mod number;
mod optionals;
mod strings;
#[cfg(test)]
mod tests;
mod time;

pub use self::optionals::OPTIONALS;

/// The standard library.
pub static STANDARD: Library =
    Library { name: "cel.lib.std", functions, macros: &syntax::STANDARD, types, validators: &[] };

fn functions() -> Vec<Function> {
    let groups = [
        logic::functions(),
        arithmetic::functions(),
        comparison::functions(),
        collections::functions(),
        conversion::functions(),
        strings::functions(),
        time::functions(),
    ];
    groups.into_iter().flatten().collect()
}

/// Messages whose names the checker of cel-go knows, and its planner does not.
const MESSAGES: [&str; 14] = [
    "google.protobuf.Any",
    "google.protobuf.BoolValue",
    "google.protobuf.BytesValue",
    "google.protobuf.DoubleValue",
    "google.protobuf.Empty",
    "google.protobuf.FloatValue",
    "google.protobuf.Int32Value",
    "google.protobuf.Int64Value",
    "google.protobuf.ListValue",
    "google.protobuf.StringValue",
    "google.protobuf.Struct",
    "google.protobuf.UInt32Value",
    "google.protobuf.UInt64Value",
    "google.protobuf.Value",
];

fn types() -> Vec<(&'static str, Type)> {
    let messages = MESSAGES.into_iter().map(|name| (name, Type::Struct(name.into())));
    let types = [
        ("bool", Type::Bool),
        ("bytes", Type::Bytes),
        ("double", Type::Double),
        ("google.protobuf.Duration", Type::Duration),
        ("int", Type::Int),
        ("list", list_of_a()),
        ("map", map_of_a_to_b()),
        ("null_type", Type::Null),
        ("string", Type::String),
        ("google.protobuf.Timestamp", Type::Timestamp),
        ("type", Type::Type(None)),
        ("uint", Type::Uint),
        ("duration", Type::Duration),
        ("timestamp", Type::Timestamp),
    ];
    types.into_iter().chain(messages).collect()
}

fn a() -> Type {
    Type::parameter("A")
}

fn list_of_a() -> Type {
    Type::list(a())
}

fn map_of_a_to_b() -> Type {
    Type::map(a(), Type::parameter("B"))
}

const fn error(message: &'static str) -> Error {
    Error { message: Cow::Borrowed(message), failure: Failure::Value }
}

/// The error of a first argument that a singleton is not for. Values that cel-go calls receivers get to see the call, and refuse it
/// without its name.
pub(super) fn not_supported(function: &str, first: &Value<'_>) -> Error {
    match first {
        Value::String(_) | Value::Duration(_) | Value::Timestamp(_) => Error::no_such_overload(),
        _ => Error::new(format!("no such overload: {function}")),
    }
}
