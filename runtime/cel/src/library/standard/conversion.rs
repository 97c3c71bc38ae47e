//! Conversions between types: `type`, `dyn`, and the functions with the names of types.
use super::{
    a,
    arithmetic::{INT_OVERFLOW, UINT_OVERFLOW, bytes_moved},
    error, number,
};
use crate::{
    CallCost, Cost, Error, Function, Meter, Range, Type, Value,
    cost::shared,
    value::{Duration, Octets, Timestamp, go_double, int_of, uint_of},
};

type Result<T> = std::result::Result<T, Error>;
type Conversion = for<'a> fn(&Value<'a>, &dyn Meter) -> Result<Value<'a>>;

pub(super) fn functions() -> Vec<Function> {
    use Type::{Bool, Bytes, Double, Duration, Int, String, Timestamp, Uint};
    vec![
        Function::new("type").global("type", &[a()], Type::of_type(a())).singleton(|arguments, _| {
            let [value] = arguments else { return Err(Error::no_such_overload()) };
            Ok(Value::Type(value.type_name().into()))
        }),
        conversion("bool", &Bool, &[("bool_to_bool", Bool, same), ("string_to_bool", String, string_to_bool)]),
        conversion("bytes", &Bytes, &[("bytes_to_bytes", Bytes, same), ("string_to_bytes", String, string_to_bytes)])
            .costs(STRING_TO_BYTES),
        conversion(
            "double",
            &Double,
            &[
                ("double_to_double", Double, same),
                ("int64_to_double", Int, number_to_double),
                ("string_to_double", String, string_to_double),
                ("uint64_to_double", Uint, number_to_double),
            ],
        ),
        conversion(
            "duration",
            &Duration,
            &[
                ("duration_to_duration", Duration, same),
                // It is declared, and always fails.
                ("int64_to_duration", Int, |value, _| Err(failure(value, "google.protobuf.Duration"))),
                ("string_to_duration", String, string_to_duration),
            ],
        ),
        Function::new("dyn")
            .global("to_dyn", &[a()], Type::Dyn)
            .singleton(|arguments, _| arguments.first().cloned().ok_or(Error::no_such_overload())),
        conversion(
            "int",
            &Int,
            &[
                ("int64_to_int64", Int, same),
                ("double_to_int64", Double, double_to_int),
                ("duration_to_int64", Duration, time_to_int),
                ("string_to_int64", String, string_to_int),
                ("timestamp_to_int64", Timestamp, time_to_int),
                ("uint64_to_int64", Uint, uint_to_int),
            ],
        ),
        to_string(),
        conversion(
            "timestamp",
            &Timestamp,
            &[
                ("timestamp_to_timestamp", Timestamp, same),
                ("int64_to_timestamp", Int, int_to_timestamp),
                ("string_to_timestamp", String, string_to_timestamp),
            ],
        ),
        conversion(
            "uint",
            &Uint,
            &[
                ("uint64_to_uint64", Uint, same),
                ("double_to_uint64", Double, double_to_uint),
                ("int64_to_uint64", Int, int_to_uint),
                ("string_to_uint64", String, string_to_uint),
            ],
        ),
    ]
}

fn to_string() -> Function {
    use Type::{Bool, Bytes, Double, Duration, Int, String, Timestamp, Uint};
    let first: &[(_, _, Conversion)] = &[
        ("string_to_string", String, same),
        ("bool_to_string", Bool, text),
        ("bytes_to_string", Bytes, bytes_to_string),
    ];
    let others: &[(_, _, Conversion)] = &[
        ("double_to_string", Double, text),
        ("duration_to_string", Duration, text),
        ("int64_to_string", Int, text),
        ("timestamp_to_string", Timestamp, text),
        ("uint64_to_string", Uint, text),
    ];
    with(conversion("string", &String, first).costs(BYTES_TO_STRING), &String, others)
}

fn conversion(name: &str, result: &Type, overloads: &[(&str, Type, Conversion)]) -> Function {
    with(Function::new(name), result, overloads)
}

fn with(function: Function, result: &Type, overloads: &[(&str, Type, Conversion)]) -> Function {
    overloads.iter().cloned().fold(function, |function, (id, from, convert)| {
        function.global(id, &[from], result.clone()).does(move |arguments, meter| match arguments {
            [value] => convert(value, meter),
            _ => Err(Error::no_such_overload()),
        })
    })
}

/// A character of a string is up to four bytes.
const STRING_TO_BYTES: Cost = Cost {
    estimate: |call| {
        let Range { min, max } = call.size(0);
        CallCost::of(shared::read(call, 0)).with_size(Range::new(min, max.wrapping_mul(4)))
    },
    charge: shared::READ.charge,
};

const BYTES_TO_STRING: Cost = Cost {
    estimate: |call| {
        let Range { min, max } = call.size(0);
        CallCost::of(shared::read(call, 0)).with_size(Range::new(min / 4, max))
    },
    charge: shared::READ.charge,
};

#[expect(clippy::unnecessary_wraps, reason = "it is one of the conversions")]
fn same<'a>(value: &Value<'a>, _: &dyn Meter) -> Result<Value<'a>> {
    Ok(value.clone())
}

/// The error of a value that has no counterpart in another type.
fn failure(value: &Value<'_>, to: &str) -> Error {
    Error::new(format!("type conversion error from '{}' to '{to}'", value.type_name()))
}

/// Reads a string as a value of a type.
fn read<'a, T>(
    value: &Value<'a>,
    to: &str,
    read: impl FnOnce(&str) -> Option<T>,
    make: impl FnOnce(T) -> Value<'a>,
) -> Result<Value<'a>> {
    let Value::String(text) = value else { return Err(failure(value, to)) };
    read(text).map(make).ok_or_else(|| failure(value, to))
}

fn string_to_bool<'a>(value: &Value<'a>, _: &dyn Meter) -> Result<Value<'a>> {
    let parse = |text: &str| match text {
        "1" | "t" | "T" | "TRUE" | "true" | "True" => Some(true),
        "0" | "f" | "F" | "FALSE" | "false" | "False" => Some(false),
        _ => None,
    };
    read(value, "bool", parse, Value::Bool)
}

fn string_to_bytes<'a>(value: &Value<'a>, meter: &dyn Meter) -> Result<Value<'a>> {
    let Value::String(text) = value else { return Err(failure(value, "bytes")) };
    meter.spend(bytes_moved(text.len(), 0))?;
    Ok(Value::Bytes(Octets::Shared(text.as_bytes().into())))
}

fn bytes_to_string<'a>(value: &Value<'a>, meter: &dyn Meter) -> Result<Value<'a>> {
    let Value::Bytes(bytes) = value else { return Err(failure(value, "string")) };
    meter.spend(bytes_moved(bytes.len(), 0))?;
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(Value::from(text.to_owned())),
        Err(_) => Err(error("invalid UTF-8 in bytes, cannot convert to string")),
    }
}

fn string_to_double<'a>(value: &Value<'a>, meter: &dyn Meter) -> Result<Value<'a>> {
    if let Value::String(text) = value {
        meter.spend(bytes_moved(text.len(), 0))?;
    }
    read(value, "double", number::parse_double, Value::Double)
}

fn string_to_int<'a>(value: &Value<'a>, _: &dyn Meter) -> Result<Value<'a>> {
    read(value, "int", |text| text.parse().ok(), Value::Int)
}

fn string_to_uint<'a>(value: &Value<'a>, _: &dyn Meter) -> Result<Value<'a>> {
    let parse = |text: &str| if text.starts_with('+') { None } else { text.parse().ok() };
    read(value, "uint", parse, Value::Uint)
}

/// Reports the parsing of a text, whose errors quote it.
fn parsed(value: &Value<'_>, meter: &dyn Meter) -> Result<()> {
    match value {
        Value::String(text) => meter.spend(text.len()),
        _ => Ok(()),
    }
}

fn string_to_duration<'a>(value: &Value<'a>, meter: &dyn Meter) -> Result<Value<'a>> {
    parsed(value, meter)?;
    read(value, "google.protobuf.Duration", Duration::parse, Value::Duration)
}

fn string_to_timestamp<'a>(value: &Value<'a>, meter: &dyn Meter) -> Result<Value<'a>> {
    parsed(value, meter)?;
    let Value::String(text) = value else { return Err(failure(value, "google.protobuf.Timestamp")) };
    let parsed = Timestamp::parse(text).ok_or_else(|| failure(value, "google.protobuf.Timestamp"))?;
    parsed.checked().map(Value::Timestamp)
}

fn int_to_timestamp<'a>(value: &Value<'a>, _: &dyn Meter) -> Result<Value<'a>> {
    let Value::Int(seconds) = value else { return Err(failure(value, "google.protobuf.Timestamp")) };
    Timestamp { seconds: *seconds, nanoseconds: 0, offset: 0 }.checked().map(Value::Timestamp)
}

#[expect(clippy::cast_precision_loss, reason = "as in cel-go")]
fn number_to_double<'a>(value: &Value<'a>, _: &dyn Meter) -> Result<Value<'a>> {
    match value {
        Value::Int(value) => Ok(Value::Double(*value as f64)),
        Value::Uint(value) => Ok(Value::Double(*value as f64)),
        _ => Err(failure(value, "double")),
    }
}

fn double_to_int<'a>(value: &Value<'a>, _: &dyn Meter) -> Result<Value<'a>> {
    let Value::Double(double) = value else { return Err(failure(value, "int")) };
    int_of(*double).map(Value::Int).ok_or(INT_OVERFLOW)
}

fn double_to_uint<'a>(value: &Value<'a>, _: &dyn Meter) -> Result<Value<'a>> {
    let Value::Double(double) = value else { return Err(failure(value, "uint")) };
    uint_of(*double).map(Value::Uint).ok_or(UINT_OVERFLOW)
}

fn uint_to_int<'a>(value: &Value<'a>, _: &dyn Meter) -> Result<Value<'a>> {
    let Value::Uint(uint) = value else { return Err(failure(value, "int")) };
    i64::try_from(*uint).map(Value::Int).map_err(|_| INT_OVERFLOW)
}

fn int_to_uint<'a>(value: &Value<'a>, _: &dyn Meter) -> Result<Value<'a>> {
    let Value::Int(int) = value else { return Err(failure(value, "uint")) };
    u64::try_from(*int).map(Value::Uint).map_err(|_| UINT_OVERFLOW)
}

/// Durations are nanoseconds, timestamps whole seconds.
fn time_to_int<'a>(value: &Value<'a>, _: &dyn Meter) -> Result<Value<'a>> {
    match value {
        Value::Duration(duration) => Ok(Value::Int(duration.nanoseconds)),
        Value::Timestamp(timestamp) => Ok(Value::Int(timestamp.seconds)),
        _ => Err(failure(value, "int")),
    }
}

fn text<'a>(value: &Value<'a>, _: &dyn Meter) -> Result<Value<'a>> {
    Ok(Value::from(match value {
        Value::Bool(value) => value.to_string(),
        Value::Int(value) => value.to_string(),
        Value::Uint(value) => value.to_string(),
        Value::Double(value) => go_double(*value),
        Value::Duration(value) => value.to_string(),
        Value::Timestamp(value) => value.to_string(),
        _ => return Err(failure(value, "string")),
    }))
}
