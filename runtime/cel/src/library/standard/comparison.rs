//! `<`, `<=`, `>` and `>=`.
use std::cmp::Ordering;

use super::{error, not_supported};
use crate::{Cost, Error, Function, Meter, Type, Value, cost::shared};

/// The ends of the names of overloads, with their types and in the order of cel-go.
const OVERLOADS: [(&str, Type, Type, Cost); 14] = [
    ("bool", Type::Bool, Type::Bool, Cost::ONE),
    ("int64", Type::Int, Type::Int, Cost::ONE),
    ("int64_double", Type::Int, Type::Double, Cost::ONE),
    ("int64_uint64", Type::Int, Type::Uint, Cost::ONE),
    ("uint64", Type::Uint, Type::Uint, Cost::ONE),
    ("uint64_double", Type::Uint, Type::Double, Cost::ONE),
    ("uint64_int64", Type::Uint, Type::Int, Cost::ONE),
    ("double", Type::Double, Type::Double, Cost::ONE),
    ("double_int64", Type::Double, Type::Int, Cost::ONE),
    ("double_uint64", Type::Double, Type::Uint, Cost::ONE),
    ("string", Type::String, Type::String, shared::COMPARE),
    ("bytes", Type::Bytes, Type::Bytes, shared::COMPARE),
    ("timestamp", Type::Timestamp, Type::Timestamp, Cost::ONE),
    ("duration", Type::Duration, Type::Duration, Cost::ONE),
];

pub(super) fn functions() -> Vec<Function> {
    vec![
        function("_<_", "less", Ordering::is_lt),
        function("_<=_", "less_equals", Ordering::is_le),
        function("_>_", "greater", Ordering::is_gt),
        function("_>=_", "greater_equals", Ordering::is_ge),
    ]
}

fn function(name: &'static str, prefix: &str, accepts: fn(Ordering) -> bool) -> Function {
    let declared = OVERLOADS.into_iter().fold(Function::new(name), |function, (end, left, right, cost)| {
        function.global(&format!("{prefix}_{end}"), &[left, right], Type::Bool).costs(cost)
    });
    declared.singleton(move |arguments: &[Value<'_>], _: &dyn Meter| match arguments {
        [Value::Double(left), _] if left.is_nan() => Err(error("NaN values cannot be ordered")),
        [left, right] if left.is_ordered() => left.compare(right).map(|order| Value::Bool(accepts(order))),
        [left, _] => Err(not_supported(name, left)),
        _ => Err(Error::no_such_overload()),
    })
}
