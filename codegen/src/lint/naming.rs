//! The name that a field should have. All rules about names suggest the same one, and none of them objects to it.
use kindsmith::schema::Type;

use super::{
    amounts,
    field::{Field, is_instant},
    words::{self, ABBREVIATIONS, ACRONYMS},
};
use crate::scaffold::names;

/// The validity of a certificate has these names in X.509.
const CERTIFICATE: [&str; 2] = ["notAfter", "notBefore"];

/// Last words of durations in another unit than seconds, with the unit that they should have.
const OTHER_UNITS: [(&str, &str); 9] = [
    ("days", "seconds"),
    ("hours", "seconds"),
    ("hrs", "seconds"),
    ("mins", "seconds"),
    ("minutes", "seconds"),
    ("ms", "milliseconds"),
    ("sec", "seconds"),
    ("secs", "seconds"),
    ("weeks", "seconds"),
];

/// The name for a field, as it should be called; `None` if nothing of it is left to call it by.
pub(crate) fn suggested(field: &Field<'_>) -> Option<String> {
    suggested_for(field, field.schema.kind)
}

/// The name if the field were a number, for a duration that is text.
pub(crate) fn suggested_as_number(field: &Field<'_>) -> Option<String> {
    suggested_for(field, Type::Integer)
}

fn suggested_for(field: &Field<'_>, kind: Type) -> Option<String> {
    let mut all = spelled_out(field.name()?)?;
    let is_number = matches!(kind, Type::Integer | Type::Number);
    match kind {
        Type::Boolean => {
            let verb = usize::from(is_question(&all));
            all.drain(..verb);
        }
        _ if is_stamp(&all) || kind == Type::String && is_instant(field.schema) => as_time(&mut all),
        _ if is_number && (amounts::is_duration(field) || kind != field.schema.kind) => {
            all.pop_if(|last| last == "seconds");
            all.push("seconds".to_owned());
        }
        Type::Integer => {
            if let Some(unit) = other_unit(&all) {
                all.pop();
                all.push(unit.to_owned());
            }
        }
        _ => {}
    }
    if let [.., interval, seconds] = &mut all[..]
        && (&**interval, &**seconds) == ("interval", "seconds")
    {
        "period".clone_into(interval);
    }
    Some(joined(&all))
}

/// The words of a name in lower case, without abbreviations.
fn spelled_out(name: &str) -> Option<Vec<String>> {
    let is_upper = |text: &str| !text.contains(|c: char| c.is_ascii_lowercase());
    let all = words::words(name).into_iter().enumerate().map(|(position, word)| {
        let lower = word.to_lowercase();
        let long = ABBREVIATIONS.iter().find(|(short, _)| *short == lower);
        let is_known = ACRONYMS.contains(&&*lower) || OTHER_UNITS.iter().any(|(unit, _)| *unit == lower);
        match long {
            Some((_, long)) => (*long).to_owned(),
            // An acronym that is not in the list keeps its capitals.
            None if position > 0 && word.len() > 1 && is_upper(word) && !is_upper(name) && !is_known => word.to_owned(),
            None => lower,
        }
    });
    let all: Vec<String> = all.collect();
    let begins = all.first().is_some_and(|first| first.starts_with(|c: char| c.is_ascii_lowercase()));
    (begins && name.is_ascii()).then_some(all)
}

/// The words as a name: the first in lower case, acronyms in capitals.
fn joined(all: &[String]) -> String {
    let (first, rest) = all.split_first().map_or((String::new(), all), |(first, rest)| (first.to_lowercase(), rest));
    first + &rest.iter().map(|word| capital(word)).collect::<String>()
}

/// A word after the first one.
pub(crate) fn capital(word: &str) -> String {
    match word.strip_suffix('s').filter(|singular| ACRONYMS.contains(singular)) {
        _ if ACRONYMS.contains(&word) => word.to_uppercase(),
        Some(singular) => singular.to_uppercase() + "s",
        None => names::capital(word),
    }
}

/// `isFooable`, of words in lower case.
pub(crate) fn is_question(all: &[String]) -> bool {
    matches!(all, [is, what, ..] if is == "is" && what.starts_with(|c: char| c.is_ascii_alphabetic()))
}

/// `lentTimestamp` and `timeStamp`.
pub(crate) fn is_stamp(all: &[String]) -> bool {
    match all {
        [.., before, last] if last == "stamp" => before == "time",
        [.., last] => last == "timestamp",
        [] => false,
    }
}

/// The name of a point in time fits, or is what others call it.
pub(crate) fn is_time_name(name: &str) -> bool {
    CERTIFICATE.contains(&name) || words::last(name) == "time"
}

/// `startedAt`, `timeAdded` and `lastLent` as times.
fn as_time(all: &mut Vec<String>) {
    if is_time_name(&joined(all)) {
        return;
    }
    if is_stamp(all) {
        if all.last().is_some_and(|last| last == "stamp") {
            all.pop();
        }
        all.pop();
    } else if all.len() > 1 && matches!(all.last().map(String::as_str), Some("at" | "date" | "on")) {
        all.pop();
    } else if all.len() > 1 && all[0] == "time" {
        all.remove(0);
    }
    if all.last().is_none_or(|last| last != "time") {
        all.push("time".to_owned());
    }
}

/// The unit that a duration in another one should have.
pub(crate) fn other_unit(all: &[String]) -> Option<&'static str> {
    let (last, before) = all.split_last()?;
    let (_, unit) = OTHER_UNITS.iter().find(|(other, _)| other == last)?;
    // Of a week, of a rate, and of protocols: `workingDays`, `perDays`, `ipSec`.
    let is_other = ["business", "dns", "ip", "mac", "per", "tls", "week", "working"];
    let before = before.last()?;
    (!is_other.contains(&before.as_str())).then_some(*unit)
}

#[cfg(test)]
mod tests;
