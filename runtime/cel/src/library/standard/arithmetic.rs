//! `+`, `-`, `*`, `/` and `%`. Results that overflow are errors.
use super::{error, list_of_a, not_supported};
use crate::{
    Error, Function, Meter, Type, Value,
    cost::shared,
    value::{Duration, List, Octets},
};

pub(super) const INT_OVERFLOW: Error = error("integer overflow");
pub(super) const UINT_OVERFLOW: Error = error("unsigned integer overflow");

type Result<T, E = Error> = std::result::Result<T, E>;

pub(super) fn functions() -> Vec<Function> {
    use Type::{Bytes, Double, Duration, Int, String, Timestamp, Uint};
    let same = |function: Function, id: &str, kind: Type| function.global(id, &[kind.clone(), kind.clone()], kind);
    let numbers = |name: &str, verb: &str| {
        let kinds = [("double", Double), ("int64", Int), ("uint64", Uint)];
        kinds
            .into_iter()
            .fold(Function::new(name), |function, (end, kind)| same(function, &format!("{verb}_{end}"), kind))
    };
    let add = same(Function::new("_+_"), "add_bytes", Bytes).costs(shared::CONCATENATE);
    let add = same(same(add, "add_double", Double), "add_duration_duration", Duration)
        .global("add_duration_timestamp", &[Duration, Timestamp], Timestamp)
        .global("add_timestamp_duration", &[Timestamp, Duration], Timestamp);
    let add = same(same(add, "add_int64", Int), "add_list", list_of_a()).costs(shared::JOIN_LISTS);
    let add = same(same(add, "add_string", String).costs(shared::CONCATENATE), "add_uint64", Uint);
    let subtract = same(same(Function::new("_-_"), "subtract_double", Double), "subtract_duration_duration", Duration);
    let subtract = same(subtract, "subtract_int64", Int)
        .global("subtract_timestamp_duration", &[Timestamp, Duration], Timestamp)
        .global("subtract_timestamp_timestamp", &[Timestamp, Timestamp], Duration);
    let modulo = same(same(Function::new("_%_"), "modulo_int64", Int), "modulo_uint64", Uint);
    let negate = Function::new("-_").global("negate_double", &[Double], Double).global("negate_int64", &[Int], Int);
    vec![
        add.singleton(binary(sum)),
        numbers("_/_", "divide").singleton(binary(quotient)),
        modulo.singleton(binary(remainder)),
        numbers("_*_", "multiply").singleton(binary(product)),
        negate.singleton(negated),
        same(subtract, "subtract_uint64", Uint).singleton(binary(difference)),
    ]
}

/// An operator on two values.
fn binary(
    operator: impl for<'a> Fn(&Value<'a>, &Value<'a>, &dyn Meter) -> Result<Value<'a>> + Send + Sync + 'static,
) -> impl for<'a> Fn(&[Value<'a>], &dyn Meter) -> Result<Value<'a>> + Send + Sync + 'static {
    move |arguments, meter| match arguments {
        [left, right] => operator(left, right, meter),
        _ => Err(Error::no_such_overload()),
    }
}

fn sum<'a>(left: &Value<'a>, right: &Value<'a>, meter: &dyn Meter) -> Result<Value<'a>> {
    Ok(match (left, right) {
        (Value::Int(left), Value::Int(right)) => Value::Int(left.checked_add(*right).ok_or(INT_OVERFLOW)?),
        (Value::Uint(left), Value::Uint(right)) => Value::Uint(left.checked_add(*right).ok_or(UINT_OVERFLOW)?),
        (Value::Double(left), Value::Double(right)) => Value::Double(left + right),
        (Value::String(left), Value::String(right)) => {
            meter.spend(bytes_moved(left.len(), right.len()))?;
            meter.reserve(left.len().saturating_add(right.len()))?;
            Value::from([&**left, &**right].concat())
        }
        (Value::Bytes(left), Value::Bytes(right)) => {
            meter.spend(bytes_moved(left.len(), right.len()))?;
            meter.reserve(left.len().saturating_add(right.len()))?;
            Value::Bytes(Octets::Shared([&**left, &**right].concat().into()))
        }
        (Value::List(left), Value::List(right)) => Value::List(List::concat(left, right, meter)?),
        (Value::Duration(left), Value::Duration(right)) => duration(left.nanoseconds.checked_add(right.nanoseconds))?,
        (Value::Timestamp(start), Value::Duration(length)) | (Value::Duration(length), Value::Timestamp(start)) => {
            Value::Timestamp(start.plus(*length)?)
        }
        (Value::Null | Value::Bool(_) | Value::Map(_) | Value::Optional(_) | Value::Type(_) | Value::Opaque(_), _) => {
            return Err(not_supported("_+_", left));
        }
        _ => return Err(Error::no_such_overload()),
    })
}

fn difference<'a>(left: &Value<'a>, right: &Value<'a>, _: &dyn Meter) -> Result<Value<'a>> {
    Ok(match (left, right) {
        (Value::Int(left), Value::Int(right)) => Value::Int(left.checked_sub(*right).ok_or(INT_OVERFLOW)?),
        (Value::Uint(left), Value::Uint(right)) => Value::Uint(left.checked_sub(*right).ok_or(UINT_OVERFLOW)?),
        (Value::Double(left), Value::Double(right)) => Value::Double(left - right),
        (Value::Duration(left), Value::Duration(right)) => duration(left.nanoseconds.checked_sub(right.nanoseconds))?,
        (Value::Timestamp(start), Value::Duration(length)) => Value::Timestamp(start.minus(*length)?),
        (Value::Timestamp(left), Value::Timestamp(right)) => Value::Duration(left.since(*right)?),
        (Value::Int(_) | Value::Uint(_) | Value::Double(_), _) => return Err(Error::no_such_overload()),
        _ => return Err(not_supported("_-_", left)),
    })
}

fn product<'a>(left: &Value<'a>, right: &Value<'a>, _: &dyn Meter) -> Result<Value<'a>> {
    Ok(match (left, right) {
        (Value::Int(left), Value::Int(right)) => Value::Int(left.checked_mul(*right).ok_or(INT_OVERFLOW)?),
        (Value::Uint(left), Value::Uint(right)) => Value::Uint(left.checked_mul(*right).ok_or(UINT_OVERFLOW)?),
        (Value::Double(left), Value::Double(right)) => Value::Double(left * right),
        (Value::Int(_) | Value::Uint(_) | Value::Double(_), _) => return Err(Error::no_such_overload()),
        _ => return Err(not_supported("_*_", left)),
    })
}

fn quotient<'a>(left: &Value<'a>, right: &Value<'a>, _: &dyn Meter) -> Result<Value<'a>> {
    Ok(match (left, right) {
        (Value::Int(_), Value::Int(0)) | (Value::Uint(_), Value::Uint(0)) => return Err(error("division by zero")),
        (Value::Int(left), Value::Int(right)) => Value::Int(left.checked_div(*right).ok_or(INT_OVERFLOW)?),
        (Value::Uint(left), Value::Uint(right)) => Value::Uint(left / right),
        (Value::Double(left), Value::Double(right)) => Value::Double(left / right),
        (Value::Int(_) | Value::Uint(_) | Value::Double(_), _) => return Err(Error::no_such_overload()),
        _ => return Err(not_supported("_/_", left)),
    })
}

fn remainder<'a>(left: &Value<'a>, right: &Value<'a>, _: &dyn Meter) -> Result<Value<'a>> {
    Ok(match (left, right) {
        (Value::Int(_), Value::Int(0)) | (Value::Uint(_), Value::Uint(0)) => return Err(error("modulus by zero")),
        (Value::Int(left), Value::Int(right)) => Value::Int(left.checked_rem(*right).ok_or(INT_OVERFLOW)?),
        (Value::Uint(left), Value::Uint(right)) => Value::Uint(left % right),
        (Value::Int(_) | Value::Uint(_), _) => return Err(Error::no_such_overload()),
        _ => return Err(not_supported("_%_", left)),
    })
}

fn negated<'a>(arguments: &[Value<'a>], _: &dyn Meter) -> Result<Value<'a>> {
    Ok(match arguments {
        [Value::Int(value)] => Value::Int(value.checked_neg().ok_or(INT_OVERFLOW)?),
        [Value::Double(value)] => Value::Double(-value),
        [Value::Duration(value)] => duration(value.nanoseconds.checked_neg())?,
        [] | [Value::Bool(_), ..] => return Err(Error::no_such_overload()),
        [other, ..] => return Err(not_supported("-_", other)),
    })
}

fn duration<'a>(nanoseconds: Option<i64>) -> Result<Value<'a>> {
    Ok(Value::Duration(Duration { nanoseconds: nanoseconds.ok_or(INT_OVERFLOW)? }))
}

/// The steps that it takes to write bytes.
pub(super) fn bytes_moved(left: usize, right: usize) -> usize {
    1 + left.saturating_add(right) / 64
}
