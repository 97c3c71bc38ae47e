//! Rules about points in time and durations.
use kindsmith::schema::Type;

use super::names;
use crate::lint::{
    Check, Rule, amounts,
    field::{Field, is_instant, is_integer, is_plain_text},
    naming, words,
};

pub(super) const RULES: &[Rule] = &[
    Check::Field(time_name)
        .warning("time-name", "Naming conventions")
        .reason("A field for the time at which something occurs is called somethingTime, so that its type is seen in its name.")
        .bad("status: {properties: {lastLent: {type: string, format: date-time}}}")
        .good("status: {properties: {lastLentTime: {type: string, format: date-time}}}"),
    Check::Field(time_named_stamp)
        .warning("time-named-stamp", "Naming conventions")
        .reason("A time is called somethingTime, and not somethingStamp or somethingTimestamp.")
        .bad("status: {properties: {lentTimestamp: {type: string, format: date-time}}}")
        .good("status: {properties: {lentTime: {type: string, format: date-time}}}"),
    Check::Field(time_without_format)
        .warning("time-without-format", "Serialization Format")
        .reason("All dates are RFC 3339 strings, of the format date-time: other texts and numbers have to be interpreted, each in its way.")
        .bad("status: {properties: {lentTime: {type: integer, format: int64, maximum: 9000000000}}}")
        .good("status: {properties: {lentTime: {type: string, format: date-time}}}"),
    Check::Field(duration_without_unit)
        .error("duration-without-unit", "Units")
        .reason("Units must be in the name or in the value: seconds and milliseconds look alike.")
        .bad("spec: {properties: {loanTimeout: {type: integer, format: int32}}}")
        .good("spec: {properties: {loanTimeoutSeconds: {type: integer, format: int32}}}"),
    Check::Field(duration_not_in_seconds)
        .warning("duration-not-in-seconds", "Units")
        .reason("Durations are in seconds, as fooSeconds, in all kinds; only shorter ones have another unit, which is spelled out.")
        .bad("spec: {properties: {loanPeriodDays: {type: integer, format: int32}}}")
        .good("spec: {properties: {loanPeriodSeconds: {type: integer, format: int32}}}"),
    Check::Field(duration_as_text)
        .warning("duration-as-text", "Units (current text)")
        .reason("A duration as a string such as 1h30m makes every client parse what Go prints.")
        .bad("spec: {properties: {loanDuration: {type: string}}}")
        .good("spec: {properties: {loanDurationSeconds: {type: integer, format: int32}}}"),
    Check::Field(interval_name)
        .warning("interval-name", "Naming conventions")
        .reason("fooPeriodSeconds is preferred over fooIntervalSeconds for what happens again and again.")
        .bad("spec: {properties: {reminderIntervalSeconds: {type: integer, format: int32}}}")
        .good("spec: {properties: {reminderPeriodSeconds: {type: integer, format: int32}}}"),
];

fn time_name(field: &Field<'_>) -> Option<String> {
    let name = field.name().filter(|_| is_instant(field.schema))?;
    let is_fit = naming::is_time_name(name) || naming::is_stamp(&words::lower(name));
    (!is_fit).then(|| format!("{name} is a time: {}", names::called(naming::suggested(field))))
}

fn time_named_stamp(field: &Field<'_>) -> Option<String> {
    // A switch may add timestamps to something.
    let name = field.name().filter(|_| field.schema.kind != Type::Boolean)?;
    naming::is_stamp(&words::lower(name))
        .then(|| format!("{name} is a stamp: {}", names::called(naming::suggested(field))))
}

fn time_without_format(field: &Field<'_>) -> Option<String> {
    let (name, schema) = (field.name()?, field.schema);
    let last = words::last(name);
    let is_named = matches!(last.as_str(), "time" | "timestamp" | "date") && words::words(name).len() > 1;
    let is_end = ["deadline", "expiration", "expiry"].contains(&last.as_str()) && amounts::is_point(field);
    if !(is_named || is_end) || amounts::may_last(field) || name.ends_with("ToDate") {
        return None;
    }
    let is_free_text = is_plain_text(schema) && schema.enumeration.is_empty() && schema.pattern.is_none();
    match schema.kind {
        Type::Integer | Type::Number => Some(format!(
            "{name} is a number: a time is a string of the format date-time, and a duration has its unit in its name"
        )),
        Type::String if is_free_text && !amounts::is_of_day(field) => {
            Some(format!("{name} is text of any form: declare the format date-time"))
        }
        _ => None,
    }
}

fn duration_without_unit(field: &Field<'_>) -> Option<String> {
    let name = field.name().filter(|_| amounts::is_duration(field))?;
    Some(format!("{name} has no unit: {}", names::called(naming::suggested(field))))
}

fn duration_not_in_seconds(field: &Field<'_>) -> Option<String> {
    let name = field.name().filter(|_| is_integer(field.schema))?;
    naming::other_unit(&words::lower(name))?;
    Some(format!("{name} is not in seconds: {}", names::called(naming::suggested(field))))
}

fn duration_as_text(field: &Field<'_>) -> Option<String> {
    let schema = field.schema;
    let name = field.name().filter(|_| schema.kind == Type::String && schema.enumeration.is_empty())?;
    // These may also be points in time.
    let is_clear = |last: String| !["deadline", "expiration", "expiry"].contains(&last.as_str());
    let is_named = amounts::duration(name).is_some_and(is_clear) || amounts::is_lasting(field);
    let is_parsed = schema.pattern.as_ref().is_some_and(|pattern| pattern.text().contains("(h|m|s|ms)"));
    let is_said = schema.format.as_deref() == Some("duration");
    let is_found = is_named && schema.format.is_none() && !amounts::is_no_duration_text(field);
    let number = naming::suggested_as_number(field).unwrap_or_else(|| format!("{name}Seconds"));
    (is_found || is_parsed || is_said)
        .then(|| format!("{name} is a duration in text: take a number of seconds, {number}"))
}

fn interval_name(field: &Field<'_>) -> Option<String> {
    let name = field.name()?;
    matches!(&words::lower(name)[..], [.., interval, seconds] if interval == "interval" && seconds == "seconds")
        .then(|| format!("{name} is a period: {}", names::called(naming::suggested(field))))
}
