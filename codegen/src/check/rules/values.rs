//! Rules about defaults, values that cannot change, and objects in objects.
use kindsmith::schema::Document;

use crate::check::{
    node::Node,
    rule::{
        Check, Field,
        Level::{Breaking, Warning},
        Party::{Appliers, Json, Stored, Watchers},
        Rule, source,
    },
};

pub(super) static RULES: [Rule; 9] = [
    Rule {
        name: "default-added",
        level: Warning,
        breaks: &[Json, Stored, Watchers],
        about: "A field that was there has a default.",
        harm: "objects without the field get the value when they are read, though its absence meant something else",
        instead: "Choose a default that means what the absence meant.",
        source: source::COMPATIBILITY,
        check: Check::Field(|field, notes| {
            if let (None, Some(new)) = defaults(field)
                && !field.is_status
                && !is_empty(new)
            {
                notes.here(format!("the default is {new}, where there was no default"));
            }
        }),
    },
    Rule::compatible(
        "empty-default-added",
        "A field that was there has an empty default, which most clients take for its absence.",
        Check::Field(|field, notes| {
            if let (None, Some(new)) = defaults(field)
                && !field.is_status
                && is_empty(new)
            {
                notes.here(format!("the default is {new}, where there was no default"));
            }
        }),
    ),
    Rule {
        name: "status-default-changed",
        level: Warning,
        breaks: &[Json, Watchers],
        about: "The status has another default, or no longer one.",
        harm: "readers see another status until a controller writes one",
        instead: "Change it together with the controllers.",
        source: source::DEFAULTING,
        check: Check::Field(|field, notes| match defaults(field) {
            (old, new) if !field.is_status || old == new => {}
            (old, new) => {
                let shown =
                    |default: Option<&Document>| default.map_or_else(|| "absent".to_owned(), ToString::to_string);
                notes.here(format!("the default was {}, is {}", shown(old), shown(new)));
            }
        }),
    },
    Rule {
        name: "default-changed",
        level: Breaking,
        breaks: &[Json, Stored, Watchers],
        about: "A field has another default.",
        harm: "manifests without the field, and objects that are stored without it, mean something else",
        instead: "Change the default in a new version.",
        source: source::DEFAULTING,
        check: Check::Field(|field, notes| {
            if let (Some(old), Some(new)) = defaults(field)
                && !field.is_status
                && old != new
            {
                notes.here(format!("the default was {old}, is {new}"));
            }
        }),
    },
    Rule {
        name: "default-removed",
        level: Breaking,
        breaks: &[Json, Watchers],
        about: "A field no longer has a default.",
        harm: "readers that rely on the field find objects without it",
        instead: "Keep the default in this version.",
        source: source::DEFAULTING,
        check: Check::Field(|field, notes| {
            if let (Some(old), None) = defaults(field)
                && !field.is_status
            {
                notes.here(format!("the default was {old}, and there is no longer one"));
            }
        }),
    },
    Rule {
        name: "immutable-added",
        level: Breaking,
        breaks: &[Json, Appliers],
        about: "A value can no longer change.",
        harm: "updates that change it are refused",
        instead: "Make it immutable in a new kind.",
        source: source::COMPATIBILITY,
        check: Check::Field(|field, notes| {
            if !field.old.immutable && field.new.immutable {
                notes.here("can no longer change");
            }
        }),
    },
    Rule {
        name: "immutable-removed",
        level: Warning,
        breaks: &[Watchers],
        about: "A value can change.",
        harm: "controllers that read it once do not notice",
        instead: "Check that controllers handle a change.",
        source: source::COMPATIBILITY,
        check: Check::Field(|field, notes| {
            if field.old.immutable && !field.new.immutable {
                notes.here("can change");
            }
        }),
    },
    Rule {
        name: "embedded-resource-added",
        level: Breaking,
        breaks: &[Json, Stored],
        about: "A value must be an object with apiVersion and kind.",
        harm: "values without them, and with metadata that is not valid, are refused",
        instead: "Add a field of another name.",
        source: source::COMPATIBILITY,
        check: Check::Field(|field, notes| {
            if field.old.kind == field.new.kind && !field.old.embedded && field.new.embedded {
                notes.here("is an embedded resource");
            }
        }),
    },
    Rule {
        name: "embedded-resource-removed",
        level: Breaking,
        breaks: &[Json, Stored],
        about: "A value is no longer an object with apiVersion, kind and metadata.",
        harm: "these fields are pruned, unless they are declared",
        instead: "Keep the extension.",
        source: source::COMPATIBILITY,
        check: Check::Field(|field, notes| {
            if field.old.kind == field.new.kind && field.old.embedded && !field.new.embedded {
                notes.here("is no longer an embedded resource");
            }
        }),
    },
];

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
    if field.old.kind != field.new.kind {
        return (None, None);
    }
    let of = |node: Node<'s>| {
        node.default_value().filter(|default| {
            let is_empty = default.as_object().is_some_and(serde_json::Map::is_empty);
            !is_empty || node.fields().values().any(|field| field.default.is_some())
        })
    };
    (of(field.old), of(field.new))
}
