//! Rules about points in time and durations.
use kindsmith::schema::Type;

use crate::lint::{
    Check, Level, Rule,
    field::{Field, is_integer, is_plain_text, is_time},
    words::{self, DURATIONS},
};

pub(super) const RULES: &[Rule] = &[
    Rule {
        name: "time-name",
        level: Level::Warning,
        section: "Naming conventions",
        reason: "A field for the time at which something occurs is called somethingTime, so that its type is seen in its name.",
        bad: "status: {properties: {lastLent: {type: string, format: date-time}}}",
        good: "status: {properties: {lastLentTime: {type: string, format: date-time}}}",
        check: Check::Field(time_name),
    },
    Rule {
        name: "time-named-stamp",
        level: Level::Warning,
        section: "Naming conventions",
        reason: "A time is called somethingTime, and not somethingStamp or somethingTimestamp.",
        bad: "status: {properties: {lentTimestamp: {type: string, format: date-time}}}",
        good: "status: {properties: {lentTime: {type: string, format: date-time}}}",
        check: Check::Field(time_named_stamp),
    },
    Rule {
        name: "time-without-format",
        level: Level::Warning,
        section: "Serialization Format",
        reason: "All dates are RFC 3339 strings, of the format date-time: other texts and numbers have to be interpreted, each in its way.",
        bad: "status: {properties: {lentTime: {type: integer, format: int64, maximum: 9000000000}}}",
        good: "status: {properties: {lentTime: {type: string, format: date-time}}}",
        check: Check::Field(time_without_format),
    },
    Rule {
        name: "duration-without-unit",
        level: Level::Error,
        section: "Units",
        reason: "Units must be in the name or in the value: seconds and milliseconds look alike.",
        bad: "spec: {properties: {loanTimeout: {type: integer, format: int32}}}",
        good: "spec: {properties: {loanTimeoutSeconds: {type: integer, format: int32}}}",
        check: Check::Field(duration_without_unit),
    },
    Rule {
        name: "duration-not-in-seconds",
        level: Level::Warning,
        section: "Units",
        reason: "Durations are in seconds, as fooSeconds, in all kinds; only shorter ones have another unit, which is spelled out.",
        bad: "spec: {properties: {loanPeriodDays: {type: integer, format: int32}}}",
        good: "spec: {properties: {loanPeriodSeconds: {type: integer, format: int32}}}",
        check: Check::Field(duration_not_in_seconds),
    },
    Rule {
        name: "duration-as-text",
        level: Level::Warning,
        section: "Units (current text)",
        reason: "A duration as a string such as 1h30m makes every client parse what Go prints.",
        bad: "spec: {properties: {loanDuration: {type: string}}}",
        good: "spec: {properties: {loanDurationSeconds: {type: integer, format: int32}}}",
        check: Check::Field(duration_as_text),
    },
    Rule {
        name: "interval-name",
        level: Level::Warning,
        section: "Naming conventions",
        reason: "fooPeriodSeconds is preferred over fooIntervalSeconds for what happens again and again.",
        bad: "spec: {properties: {reminderIntervalSeconds: {type: integer, format: int32}}}",
        good: "spec: {properties: {reminderPeriodSeconds: {type: integer, format: int32}}}",
        check: Check::Field(interval_name),
    },
];

/// The validity of a certificate has these names in X.509.
const CERTIFICATE: [&str; 2] = ["notAfter", "notBefore"];

fn is_stamp(name: &str) -> bool {
    words::last(name).ends_with("stamp")
}

fn time_name(field: &Field<'_>) -> Option<String> {
    let name = field.name().filter(|name| is_time(field.schema) && !CERTIFICATE.contains(name))?;
    (words::last(name) != "time" && !is_stamp(name)).then(|| format!("{name} is a time: call it {}", as_time(name)))
}

/// `startedAt`, `timeAdded` and `lastLent` as times.
fn as_time(name: &str) -> String {
    let all = words::lower(name);
    match (all.first().map(String::as_str), all.last().map(String::as_str)) {
        (_, Some("at" | "date" | "on")) if all.len() > 1 => words::with_last(name, 1, "time"),
        (Some("time"), _) => format!("{}{}Time", all[1], words::words(name)[2..].concat()),
        _ => format!("{name}Time"),
    }
}

fn time_named_stamp(field: &Field<'_>) -> Option<String> {
    let name = field.name().filter(|name| is_stamp(name))?;
    Some(format!("{name} is a stamp: call it {}", words::with_last(name, 1, "time")))
}

fn time_without_format(field: &Field<'_>) -> Option<String> {
    let name = field.name()?;
    let schema = field.schema;
    let is_named = matches!(words::last(name).as_str(), "time" | "timestamp" | "date") && words::words(name).len() > 1;
    let is_free_text = is_plain_text(schema) && schema.enumeration.is_empty() && schema.pattern.is_none();
    match schema.kind {
        _ if !is_named => None,
        Type::Integer | Type::Number => Some(format!(
            "{name} is a number: a time is a string of the format date-time, and a duration has its unit in its name"
        )),
        Type::String if is_free_text => Some(format!("{name} is text of any form: declare the format date-time")),
        _ => None,
    }
}

/// The last words of a name that is a duration.
fn duration(name: &str) -> Option<String> {
    let all = words::lower(name);
    let last = all.last()?;
    let is_age = last == "age" && all.len() > 1 && all[all.len() - 2].starts_with("max");
    (DURATIONS.contains(&last.as_str()) || is_age).then(|| last.clone())
}

fn duration_without_unit(field: &Field<'_>) -> Option<String> {
    let name = field.name().filter(|_| is_integer(field.schema) || field.schema.kind == Type::Number)?;
    duration(name)?;
    Some(format!("{name} has no unit: call it {name}Seconds"))
}

fn duration_not_in_seconds(field: &Field<'_>) -> Option<String> {
    const OTHERS: [&str; 13] =
        ["day", "days", "hour", "hours", "hrs", "mins", "minute", "minutes", "ms", "sec", "secs", "week", "weeks"];
    let name = field.name().filter(|_| is_integer(field.schema))?;
    let last = words::last(name);
    (OTHERS.contains(&last.as_str()) && words::words(name).len() > 1).then(|| {
        format!(
            "{name} is not in seconds: call it {}",
            words::with_last(name, 1, if last == "ms" { "milliseconds" } else { "seconds" })
        )
    })
}

fn duration_as_text(field: &Field<'_>) -> Option<String> {
    let schema = field.schema;
    let name = field.name().filter(|_| schema.kind == Type::String && schema.enumeration.is_empty())?;
    // These may also be points in time.
    let is_named = duration(name).is_some_and(|last| !["deadline", "expiration", "expiry"].contains(&last.as_str()));
    let is_parsed = schema.pattern.as_ref().is_some_and(|pattern| pattern.text().contains("(h|m|s|ms)"));
    let is_said = schema.format.as_deref() == Some("duration");
    (is_named && schema.format.is_none() || is_parsed || is_said)
        .then(|| format!("{name} is a duration in text: take a number of seconds, {name}Seconds"))
}

fn interval_name(field: &Field<'_>) -> Option<String> {
    let name = field.name().filter(|name| name.ends_with("IntervalSeconds") || *name == "intervalSeconds")?;
    let period = words::with_last(name, 2, "period");
    Some(format!("{name} is a period: call it {period}Seconds"))
}
