//! The parts of timestamps, in UTC or in a zone, and the lengths of durations in units.
use crate::{
    Error, Function, Type, Value,
    value::{Duration, Fields, Zone},
};

/// The timestamp's part, with its name in the ids of overloads.
type Part = (&'static str, fn(&Fields) -> i64);

pub(super) fn functions() -> Vec<Function> {
    vec![
        of_timestamp("getFullYear", ("year", |at| at.year)),
        of_timestamp("getMonth", ("month", |at| at.month - 1)),
        of_timestamp("getDayOfYear", ("day_of_year", |at| at.day_of_year - 1)),
        of_timestamp("getDayOfMonth", ("day_of_month", |at| at.day - 1)),
        of_timestamp("getDate", ("day_of_month_1_based", |at| at.day)),
        of_timestamp("getDayOfWeek", ("day_of_week", |at| at.day_of_week)),
        of_both("getHours", ("hours", |at| at.hour), Duration::hours),
        of_both("getMinutes", ("minutes", |at| at.minute), Duration::minutes),
        of_both("getSeconds", ("seconds", |at| at.second), Duration::seconds),
        of_both("getMilliseconds", ("milliseconds", |at| at.nanosecond / 1_000_000), Duration::milliseconds),
    ]
}

fn of_timestamp(name: &str, (part, read): Part) -> Function {
    let with_zone = if part == "seconds" { "tz" } else { "with_tz" };
    Function::new(name)
        .member(&format!("timestamp_to_{part}"), &[Type::Timestamp], Type::Int)
        .does(move |arguments, _| {
            let [Value::Timestamp(timestamp)] = arguments else { return Err(Error::no_such_overload()) };
            Ok(Value::Int(read(&timestamp.fields(0))))
        })
        .member(&format!("timestamp_to_{part}_{with_zone}"), &[Type::Timestamp, Type::String], Type::Int)
        .does(move |arguments, _| {
            let [Value::Timestamp(timestamp), Value::String(zone)] = arguments else {
                return Err(Error::no_such_overload());
            };
            let offset = Zone::named(zone)?.offset(*timestamp);
            Ok(Value::Int(read(&timestamp.fields(offset))))
        })
}

fn of_both(name: &str, part: Part, length: fn(Duration) -> i64) -> Function {
    let id = format!("duration_to_{}", part.0);
    of_timestamp(name, part).member(&id, &[Type::Duration], Type::Int).does(move |arguments, _| {
        let [Value::Duration(duration)] = arguments else { return Err(Error::no_such_overload()) };
        Ok(Value::Int(length(*duration)))
    })
}
