//! Rules about which fields are required, and which may be null.
use kindsmith::schema::Document;

use super::listed;
use crate::check::{
    node,
    rule::{
        Check, Field,
        Level::{Breaking, Warning},
        Party::{Appliers, Json, Stored, Watchers},
        Rule, source,
    },
};

pub(super) static RULES: [Rule; 5] = [
    Rule {
        name: "required-added",
        level: Breaking,
        breaks: &[Json, Stored, Appliers],
        about: "A field that was optional is required, and has no default.",
        harm: "writes without it are refused, those of objects that are stored without it among them",
        instead: "Keep the field optional, or give it a default.",
        source: source::OPTIONAL,
        check: Check::Field(|field, notes| {
            // The status is judged as a whole.
            for name in required(field, true).filter(|name| !field.is_status && !has_default(field, name)) {
                notes.below(node::step(name), "is required");
            }
        }),
    },
    Rule::compatible(
        "required-with-default",
        "A field that was optional is required, and has a default.",
        Check::Field(|field, notes| {
            for name in required(field, true).filter(|name| has_default(field, name)) {
                notes.below(node::step(name), "is required, and has a default");
            }
        }),
    ),
    Rule {
        name: "required-removed",
        level: Warning,
        breaks: &[Json, Watchers],
        about: "A required field is optional.",
        harm: "readers that rely on the field find objects without it",
        instead: "Check that all readers handle its absence.",
        source: source::COMPATIBILITY,
        check: Check::Field(|field, notes| {
            for name in required(field, false).filter(|name| !has_default(field, name)) {
                notes.below(node::step(name), "is optional");
            }
        }),
    },
    Rule {
        name: "nullable-removed",
        level: Breaking,
        breaks: &[Json, Stored],
        about: "A value may no longer be null.",
        harm: "a null in a request is dropped or refused, and a stored one no longer fits",
        instead: "Keep it nullable.",
        source: source::COMPATIBILITY,
        check: Check::Field(|field, notes| {
            if field.old.kind == field.new.kind && field.old.nullable && !field.new.nullable {
                notes.here("may no longer be null");
            }
        }),
    },
    Rule {
        name: "nullable-added",
        level: Warning,
        breaks: &[Json, Watchers],
        about: "A value may be null.",
        harm: "readers of typed languages may not decode a null",
        instead: "Let the field be absent instead.",
        source: source::GOTCHAS,
        check: Check::Field(|field, notes| {
            if field.old.kind == field.new.kind && !field.old.nullable && field.new.nullable {
                notes.here("may be null");
            }
        }),
    },
];

/// The fields of both sides that are required on one of them only.
fn required<'s>(field: &Field<'s>, is_new: bool) -> impl Iterator<Item = &'s String> {
    let Field { old, new, .. } = *field;
    let (having, lacking) = if is_new { (new, old) } else { (old, new) };
    let only = having.required().iter().filter(move |name| !lacking.required().contains(name));
    // What is required of entries of a map need not be declared.
    only.filter(move |name| old.fields().contains_key(name) == new.fields().contains_key(name))
}

/// The fields of the status that are required now.
pub(super) fn tightened(field: &Field<'_>) -> Option<String> {
    let names: Vec<_> = required(field, true).filter(|name| !has_default(field, name)).collect();
    (!names.is_empty()).then(|| format!("{} required", listed(names)))
}

fn has_default(field: &Field<'_>, name: &str) -> bool {
    field.new.field(name).is_some_and(|field| field.default.as_ref().is_some_and(|default| *default != Document::Null))
}
