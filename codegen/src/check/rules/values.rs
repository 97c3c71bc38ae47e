//! Defaults, closed sets of values, and patterns.
use kindsmith::schema::Document;
use kindsmith_model::schema::At;

use crate::check::{
    language::{self, Relation},
    rule::{
        Direction::{self, Looser, Tighter},
        Field, Notes, only_in,
    },
};

/// A default of a field that was there: one that is empty, or another one.
pub(super) fn default_added(field: &Field<'_>, is_empty: bool) -> Option<String> {
    match defaults(field) {
        (None, Some(new)) if !field.is_status && self::is_empty(new) == is_empty => {
            Some(format!("the default is {new}, where there was no default"))
        }
        _ => None,
    }
}

/// Another default, or none.
pub(super) fn default_changed(field: &Field<'_>, notes: &mut Notes) {
    if let (Some(old), Some(new)) = defaults(field) {
        notes.when(!field.is_status && old != new, format!("the default was {old}, is {new}"));
    }
}

pub(super) fn default_removed(field: &Field<'_>, notes: &mut Notes) {
    if let (Some(old), None) = defaults(field) {
        notes.when(!field.is_status, format!("the default was {old}, and there is no longer one"));
    }
}

pub(super) fn status_default(field: &Field<'_>, notes: &mut Notes) {
    let (old, new) = defaults(field);
    let shown = |default: Option<&Document>| default.map_or_else(|| "absent".to_owned(), ToString::to_string);
    notes.when(field.is_status && old != new, format!("the default was {}, is {}", shown(old), shown(new)));
}

/// An empty text, list or map.
fn is_empty(default: &Document) -> bool {
    match default {
        Document::String(text) => text.is_empty(),
        Document::Array(items) => items.is_empty(),
        Document::Object(fields) => fields.is_empty(),
        _ => false,
    }
}

/// The defaults that have an effect: one that is `{}` only makes room for those of its fields.
fn defaults<'s>(field: &Field<'s>) -> (Option<&'s Document>, Option<&'s Document>) {
    if !field.has_same_type() {
        return (None, None);
    }
    let of = |node: At<'s>| {
        node.node().default.as_ref().filter(|default| {
            let is_empty = default.as_object().is_some_and(serde_json::Map::is_empty);
            !is_empty || node.properties().any(|(_, field)| field.default.is_some())
        })
    };
    (of(field.old), of(field.new))
}

/// The values of a closed set.
pub(super) fn allowed(field: &Field<'_>, direction: Direction) -> Option<String> {
    let (old, new) = (&field.old.enumeration, &field.new.enumeration);
    let (closed, changed, how) = match direction {
        Tighter => (new, only_in(old, new), "without"),
        Looser => (old, only_in(new, old), "with"),
    };
    (!closed.is_empty() && !changed.is_empty()).then(|| format!("{how} the values {}", shown(changed)))
}

/// Says that the values have become a closed set, or an open one.
pub(super) fn closed(field: &Field<'_>, direction: Direction) -> Option<String> {
    let is_closed = |node: At<'_>| !node.enumeration.is_empty();
    match direction {
        Tighter if field.is_set(is_closed) => {
            Some(format!("only the values {} are allowed", shown(field.new.enumeration.iter())))
        }
        Looser if field.is_unset(is_closed) => Some("the values are no longer a closed set".to_owned()),
        _ => None,
    }
}

fn shown<'d>(values: impl IntoIterator<Item = &'d Document>) -> String {
    values.into_iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// Says that a pattern has been added or removed.
pub(super) fn patterned(field: &Field<'_>, direction: Direction) -> Option<String> {
    match (direction, &field.old.pattern, &field.new.pattern) {
        _ if !field.has_same_type() => None,
        (Tighter, None, Some(new)) => Some(format!("has to match the pattern {:?}", new.text())),
        (Looser, Some(old), None) => Some(format!("the pattern was {:?}, and there is no longer one", old.text())),
        _ => None,
    }
}

/// Another pattern.
pub(super) fn pattern(field: &Field<'_>, direction: Direction) -> Option<String> {
    let (what, relation) = patterns(field)?;
    match (direction, relation) {
        (Looser, Some(Relation::Wider)) => Some(what),
        (Tighter, Some(Relation::Refuses(text))) => Some(format!("{what}, which refuses {text:?}")),
        (Tighter, None) => Some(format!("{what}, which may refuse what it allowed")),
        _ => None,
    }
}

pub(super) fn pattern_rewritten(field: &Field<'_>, notes: &mut Notes) {
    if let Some((what, Some(Relation::Same))) = patterns(field) {
        notes.here(what);
    }
}

/// Two patterns that differ, and how the texts that they allow relate.
fn patterns(field: &Field<'_>) -> Option<(String, Option<Relation>)> {
    let (old, new) = (field.old.pattern.as_ref()?, field.new.pattern.as_ref()?);
    let what = format!("the pattern was {:?}, is {:?}", old.text(), new.text());
    (old != new).then(|| (what, language::compare(old.syntax(), new.syntax())))
}
