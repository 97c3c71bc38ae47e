//! Rules about patterns.
use crate::check::{
    language::{self, Relation},
    rule::{
        Check, Field,
        Level::{Breaking, Warning},
        Party::{Json, Stored, Watchers},
        Rule, source,
    },
};

use super::limits;

pub(super) static RULES: [Rule; 5] = [
    Rule {
        name: "pattern-added",
        level: Breaking,
        breaks: &[Json, Stored],
        about: "Text has to match a pattern.",
        harm: "requests with other text are refused, and stored objects with it cannot be written",
        instead: "Warn of other text in admission.",
        source: source::COMPATIBILITY,
        check: Check::Field(|field, notes| limits::outside_of_status(field, added, notes)),
    },
    Rule {
        name: "pattern-changed",
        level: Breaking,
        breaks: &[Json, Stored],
        about: "Text has to match another pattern, which refuses what the old one allows, or may.",
        harm: "requests with text that only the old pattern allows are refused, and stored objects with it cannot be \
               written",
        instead: "Allow what the old pattern allows, too, as in OLD|NEW.",
        source: source::GOTCHAS,
        check: Check::Field(|field, notes| limits::outside_of_status(field, changed, notes)),
    },
    Rule {
        name: "pattern-loosened",
        level: Warning,
        breaks: &[Json, Watchers],
        about: "Text has to match another pattern, which allows all that the old one does, and more.",
        harm: "readers that parse the text may meet one that they do not understand",
        instead: "Check that all readers handle it.",
        source: source::GOTCHAS,
        check: Check::Field(|field, notes| {
            if let Some((old, new, Some(Relation::Wider))) = pair(field) {
                notes.here(format!("the pattern was {old:?}, is {new:?}"));
            }
        }),
    },
    Rule::compatible(
        "pattern-rewritten",
        "A pattern is written in another way, and allows the same text.",
        Check::Field(|field, notes| {
            if let Some((old, new, Some(Relation::Same))) = pair(field) {
                notes.here(format!("the pattern was {old:?}, is {new:?}"));
            }
        }),
    ),
    Rule {
        name: "pattern-removed",
        level: Warning,
        breaks: &[Json, Watchers],
        about: "Text no longer has to match a pattern.",
        harm: "readers that parse the text may meet one that they do not understand",
        instead: "Check that all readers handle other text.",
        source: source::GOTCHAS,
        check: Check::Field(|field, notes| {
            let is_same = field.old.kind == field.new.kind;
            if let (true, Some(old), None) = (is_same, &field.old.pattern, &field.new.pattern) {
                notes.here(format!("the pattern was {:?}, and there is no longer one", old.text()));
            }
        }),
    },
];

pub(super) fn added(field: &Field<'_>) -> Option<String> {
    let new = field.new.pattern.as_ref().filter(|_| field.old.pattern.is_none() && field.old.kind == field.new.kind)?;
    Some(format!("has to match the pattern {:?}", new.text()))
}

pub(super) fn changed(field: &Field<'_>) -> Option<String> {
    let (old, new, relation) = pair(field)?;
    match relation {
        Some(Relation::Same | Relation::Wider) => None,
        Some(Relation::Refuses(text)) => Some(format!("the pattern was {old:?}, is {new:?}, which refuses {text:?}")),
        None => Some(format!("the pattern was {old:?}, is {new:?}, which may refuse what it allowed")),
    }
}

/// Two patterns that differ, and how the texts that they allow relate.
fn pair<'s>(field: &'s Field<'_>) -> Option<(&'s str, &'s str, Option<Relation>)> {
    let (old, new) = (field.old.pattern.as_ref()?, field.new.pattern.as_ref()?);
    (old != new).then(|| (old.text(), new.text(), language::compare(old.syntax(), new.syntax())))
}
