//! Rules about closed sets of values.
use crate::check::rule::{
    Check, Field,
    Level::{Breaking, Warning},
    Party::{Json, Stored, Watchers},
    Rule, source,
};

use super::{limits, only_in};

pub(super) static RULES: [Rule; 5] = [
    Rule {
        name: "enum-value-added",
        level: Warning,
        breaks: &[Json, Watchers],
        about: "A further value is allowed, outside of the status.",
        harm: "clients that know all values meet one that they do not decode or handle, once someone uses it",
        instead: "Say in the description, from the beginning, that there may be further values.",
        source: source::GOTCHAS,
        check: Check::Field(|field, notes| {
            if !field.is_status {
                notes.some(added(field));
            }
        }),
    },
    Rule {
        name: "status-enum-value-added",
        level: Breaking,
        breaks: &[Json, Watchers],
        about: "The status has a further value of a closed set.",
        harm: "clients that know all values meet one that they do not decode or handle, though they did not ask for it",
        instead: "Add a condition, whose types are not a closed set.",
        source: source::STATUS,
        check: Check::Field(|field, notes| {
            if field.is_status {
                notes.some(added(field));
            }
        }),
    },
    Rule {
        name: "enum-opened",
        level: Warning,
        breaks: &[Json, Watchers],
        about: "A closed set of values is open.",
        harm: "clients that know all values meet others",
        instead: "Say in the description how clients are to treat other values.",
        source: source::CONSTANTS,
        check: Check::Field(|field, notes| {
            if field.old.kind == field.new.kind && !field.old.enumeration.is_empty() && field.new.enumeration.is_empty()
            {
                notes.here("the values are no longer a closed set");
            }
        }),
    },
    Rule {
        name: "enum-value-removed",
        level: Breaking,
        breaks: &[Json, Stored],
        about: "A value is no longer allowed.",
        harm: "requests with it are refused, and stored objects with it cannot be written",
        instead: "Deprecate the value in the description, and go on allowing it.",
        source: source::GOTCHAS,
        check: Check::Field(|field, notes| limits::outside_of_status(field, removed, notes)),
    },
    Rule {
        name: "enum-closed",
        level: Breaking,
        breaks: &[Json, Stored],
        about: "An open set of values is closed.",
        harm: "requests with other values are refused, and stored objects with them cannot be written",
        instead: "Warn of other values in admission.",
        source: source::COMPATIBILITY,
        check: Check::Field(|field, notes| limits::outside_of_status(field, closed, notes)),
    },
];

fn added(field: &Field<'_>) -> Option<String> {
    let new = only_in(&field.new.enumeration, &field.old.enumeration);
    let is_found = !field.old.enumeration.is_empty() && !new.is_empty();
    is_found.then(|| format!("with the values {}", shown(&new)))
}

pub(super) fn removed(field: &Field<'_>) -> Option<String> {
    let gone = only_in(&field.old.enumeration, &field.new.enumeration);
    let is_found = !field.new.enumeration.is_empty() && !gone.is_empty();
    is_found.then(|| format!("without the values {}", shown(&gone)))
}

pub(super) fn closed(field: &Field<'_>) -> Option<String> {
    let is_found = field.old.kind == field.new.kind && field.old.enumeration.is_empty();
    let values: Vec<_> = field.new.enumeration.iter().collect();
    (is_found && !values.is_empty()).then(|| format!("only the values {} are allowed", shown(&values)))
}

fn shown(values: &[&kindsmith::schema::Document]) -> String {
    values.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
