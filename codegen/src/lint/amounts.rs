//! What a field is an amount of, as far as its name, its description, its bounds and its default say: a duration, bytes, or a number
//! of something else. A rule about units asks here, so that hops, entries and percentages are not taken for seconds and bytes.
use kindsmith::schema::Type;
use serde_json::Value;

use super::{
    field::{Field, is_integer},
    words::{self, AMOUNTS, DURATIONS, SIZED, UNITS},
};

/// Units of time, and words that stand for one.
const TIME: [&str; 25] = [
    "day",
    "days",
    "hour",
    "hours",
    "microsecond",
    "microseconds",
    "millis",
    "millisecond",
    "milliseconds",
    "minute",
    "minutes",
    "month",
    "months",
    "ms",
    "nanosecond",
    "nanoseconds",
    "sec",
    "second",
    "seconds",
    "secs",
    "time",
    "week",
    "weeks",
    "year",
    "years",
];

/// Units of data, beside bits, in which keys and prefixes are measured, too.
const DATA: [&str; 30] = [
    "byte",
    "bytes",
    "gb",
    "gbps",
    "gib",
    "gibibyte",
    "gibibytes",
    "gigabyte",
    "gigabytes",
    "kb",
    "kbps",
    "kib",
    "kibibyte",
    "kibibytes",
    "kilobyte",
    "kilobytes",
    "mb",
    "mbps",
    "mebibyte",
    "mebibytes",
    "megabyte",
    "megabytes",
    "mib",
    "octet",
    "octets",
    "tb",
    "tebibyte",
    "tebibytes",
    "terabyte",
    "terabytes",
];

/// Units that are neither of time nor of data, wherever a description has them.
const OTHER: [&str; 16] = [
    "%",
    "coefficient",
    "epochs",
    "exponent",
    "factor",
    "fraction",
    "hop",
    "hops",
    "multiplier",
    "percent",
    "percentage",
    "percents",
    "permille",
    "pixel",
    "pixels",
    "ratio",
];

/// Words for things that are counted.
const COUNTED: [&str; 30] = [
    "attempts",
    "batches",
    "blocks",
    "characters",
    "commits",
    "cycles",
    "elements",
    "entries",
    "epochs",
    "events",
    "frames",
    "generations",
    "heartbeats",
    "items",
    "iterations",
    "ledgers",
    "lines",
    "messages",
    "packets",
    "pages",
    "records",
    "retries",
    "rounds",
    "rows",
    "samples",
    "slots",
    "steps",
    "ticks",
    "tokens",
    "transactions",
];

/// Words in the name of a time that lasts.
const LASTING: [&str; 31] = [
    "alive",
    "average",
    "backoff",
    "base",
    "cooldown",
    "dead",
    "delay",
    "down",
    "drain",
    "ejection",
    "elapsed",
    "grace",
    "hold",
    "idle",
    "keepalive",
    "lead",
    "linger",
    "max",
    "maximum",
    "mean",
    "median",
    "min",
    "minimum",
    "pause",
    "processing",
    "response",
    "retention",
    "sleep",
    "timeout",
    "total",
    "wait",
];

/// Words in the name of a time that may last, or be a point in time.
const MAYBE_LASTING: [&str; 11] =
    ["compile", "connect", "connection", "execution", "life", "poll", "recovery", "retry", "rotation", "run", "up"];

/// The words of a description in lower case; of `30s`, both.
fn described(field: &Field<'_>) -> Vec<String> {
    let text = field.schema.description.to_lowercase();
    let mut all = Vec::new();
    for token in text.split(|c: char| !c.is_ascii_alphanumeric() && c != '%').filter(|token| !token.is_empty()) {
        let digits = token.len() - token.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (number, unit) = token.split_at(digits);
        all.extend([number, unit].into_iter().filter(|part| !part.is_empty()).map(str::to_owned));
    }
    all
}

fn has(all: &[String], known: &[&str]) -> bool {
    all.iter().any(|word| known.contains(&word.as_str()))
}

/// The description says that it is a number of something that is neither time nor data.
fn is_count(all: &[String]) -> bool {
    let is_measured = |what: &[String]| has(what, &TIME) || has(what, &DATA) || has(what, &["bit", "bits"]);
    let counts = |at: usize| match [all.get(at), all.get(at + 1)].map(|word| word.map(String::as_str)) {
        [Some("number" | "numbers" | "count" | "amount"), Some("of")] | [Some("how"), Some("many")] => {
            let is_end = |word: &String| ["for", "in", "of", "per", "that", "to", "which"].contains(&word.as_str());
            let what = all[at + 2..].split(is_end).next().unwrap_or_default();
            !what.is_empty() && !is_measured(&what[..what.len().min(4)])
        }
        [Some("in"), Some(unit)] => COUNTED.contains(&unit),
        _ => false,
    };
    let is_of_time = all.iter().any(|word| word != "time" && TIME.contains(&word.as_str()));
    has(all, &OTHER) && !is_of_time || (0..all.len()).any(counts)
}

/// The last words of a name that is a duration.
pub(crate) fn duration(name: &str) -> Option<String> {
    let all = words::lower(name);
    let (last, before) = all.split_last()?;
    let is_age = last == "age" && before.last().is_some_and(|before| before.starts_with("max"));
    (DURATIONS.contains(&last.as_str()) || is_age).then(|| last.clone())
}

/// It is called a time, and lasts: `idleTime`, or one whose description or default says so.
pub(crate) fn is_lasting(field: &Field<'_>) -> bool {
    const BEGINS: [&[&str]; 5] =
        [&["duration"], &["the", "duration"], &["how", "long"], &["amount", "of", "time"], &["length", "of", "time"]];
    let Some(before) = before_time(field) else { return false };
    let all = described(field);
    let says = |begin: &&[&str]| all.windows(begin.len()).take(3).any(|words| words == *begin);
    has(&before, &LASTING) || BEGINS.iter().any(says) || default(field).is_some_and(is_duration_text)
}

/// It is called a time, and may last.
pub(crate) fn may_last(field: &Field<'_>) -> bool {
    let Some(before) = before_time(field) else { return false };
    let all = described(field);
    let is_unit = |unit: &str| TIME.contains(&unit) && unit != "time";
    let is_literal = |pair: &[String]| {
        pair[0].starts_with(|c: char| c.is_ascii_digit())
            && (is_unit(&pair[1]) || ["s", "m", "h", "d"].contains(&&*pair[1]))
    };
    is_lasting(field)
        || has(&before, &MAYBE_LASTING)
        || has(&all, &["duration", "elapsed", "interval", "long", "period", "timeout"])
        || all.windows(2).any(is_literal)
        || all.iter().any(|word| word.ends_with('s') && is_unit(word))
}

/// The words before `time`, unless they say which point in time it is.
fn before_time(field: &Field<'_>) -> Option<Vec<String>> {
    let mut name = words::lower(field.name()?);
    let is_point = name.first().is_some_and(|first| ["first", "last", "next"].contains(&first.as_str()));
    (name.pop()? == "time" && !is_point).then_some(name)
}

/// `30s`, `1h30m` and `500ms`.
fn is_duration_text(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit())
        && text.ends_with(['s', 'm', 'h', 'd'])
        && text.chars().all(|c| c.is_ascii_digit() || ".smhdnu".contains(c))
}

fn default<'f>(field: &Field<'f>) -> Option<&'f str> {
    field.schema.default.as_ref().and_then(Value::as_str)
}

/// It is called a time, and is one of each day, or a schedule.
pub(crate) fn is_of_day(field: &Field<'_>) -> bool {
    let all = described(field);
    let is_of_day =
        |words: &[String]| words[0] == "of" && (words[1] == "day" || words[1] == "the" && words[2] == "day");
    has(&all, &["am", "clock", "cron", "daily", "hh", "hhmm", "midnight", "pm", "timezone", "yyyy", "zone"])
        || all.windows(3).any(is_of_day)
        || all.ends_with(&["of".to_owned(), "day".to_owned()])
        || default(field).is_some_and(|text| text.len() <= 8 && text.contains(':'))
}

/// True if the description says that a number stands for a point in time.
pub(crate) fn is_point(field: &Field<'_>) -> bool {
    has(&described(field), &["epoch", "rfc", "rfc3339", "timestamp", "unix"])
}

/// True for a number whose name suggests a duration without a unit, unless the description or a bound says that it
/// counts something else.
pub(crate) fn is_duration(field: &Field<'_>) -> bool {
    let Some(name) = field.name().filter(|_| is_number(field)) else { return false };
    let all = words::lower(name);
    let Some(last) = duration(name) else { return is_lasting(field) && !is_count(&described(field)) };
    let about = described(field);
    let is_of_packets = last == "ttl"
        && (field.schema.maximum.is_some_and(|most| most <= 255.0) || has(&all, &["hop", "ip", "multicast", "packet"]));
    // A consumer lags behind by messages, a replica by bytes.
    let is_unclear = last == "lag" && !has(&about, &TIME);
    !(is_of_packets || is_unclear || is_point(field) || is_count(&about))
}

fn is_number(field: &Field<'_>) -> bool {
    is_integer(field.schema) || field.schema.kind == Type::Number
}

/// Text whose description says that it is no duration: a schedule, a policy, a name or an expression.
pub(crate) fn is_no_duration_text(field: &Field<'_>) -> bool {
    const OTHERS: [&str; 11] = [
        "cron",
        "crontab",
        "enum",
        "expression",
        "name",
        "policy",
        "quantity",
        "regex",
        "schedule",
        "strategy",
        "template",
    ];
    let about = described(field);
    has(&about, &OTHERS) && !has(&about, &["duration", "seconds", "minutes", "hours"]) || is_count(&about)
}

/// A number whose name says a size in bytes and no unit. What may as well be a number of entries is one only if the description
/// speaks of bytes.
pub(crate) fn is_size(field: &Field<'_>) -> bool {
    let Some(name) = field.name().filter(|_| is_number(field)) else { return false };
    let all = words::lower(name);
    let Some((last, before)) = all.split_last().filter(|_| !has(&all, &UNITS)) else { return false };
    let about = described(field);
    let (is_of_data, sized) = (has(&about, &DATA), before.last().map_or("", String::as_str));
    let is_sized = ["capacity", "size"].contains(&last.as_str());
    let is_clear = is_sized && SIZED.contains(&sized) || AMOUNTS.contains(&last.as_str());
    let others = ["elements", "entries", "id", "identifier", "index", "items", "lines", "number", "records", "rows"];
    let is_clear = is_clear && !has(&about, &others);
    let is_described = (is_sized || ["bandwidth", "throughput"].contains(&last.as_str())) && is_of_data;
    (is_clear || is_described) && !is_count(&about)
}

#[cfg(test)]
mod tests;
