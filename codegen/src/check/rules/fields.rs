//! Rules about fields that are added and removed.
use crate::check::{
    node::{self, Node},
    rule::{
        Check, Field,
        Level::{Breaking, Warning},
        Notes,
        Party::{Appliers, Json, Protobuf, Stored, Watchers},
        Rule, source,
    },
};

pub(super) static RULES: [Rule; 11] = [
    Rule {
        name: "field-removed",
        level: Breaking,
        breaks: &[Json, Protobuf, Stored, Appliers, Watchers],
        about: "A field is removed.",
        harm: "stored values are pruned at the next write, strict clients that send it are refused, and readers miss it",
        instead: "Deprecate the field in its description, and remove it with the version.",
        source: source::DEPRECATION,
        check: Check::Field(|field, notes| {
            for name in removed(field).filter(|_| !field.new.is_open() && field.new.values().is_none()) {
                notes.below(node::step(name), "removed");
            }
        }),
    },
    Rule {
        name: "field-undeclared",
        level: Warning,
        breaks: &[Json, Appliers],
        about: "A field is no longer declared, though unknown fields are kept.",
        harm: "its values stay, but are neither validated nor defaulted, and generated clients lose the field",
        instead: "Keep the declaration.",
        source: source::FIELDS,
        check: Check::Field(|field, notes| {
            for name in removed(field).filter(|_| field.new.is_open() && field.new.values().is_none()) {
                notes.below(node::step(name), "no longer declared");
            }
        }),
    },
    Rule::compatible(
        "field-added",
        "An optional field is added.",
        Check::Field(|field, notes| {
            for (name, _) in added(field).filter(|(name, new)| !field.old.is_open() && !must_be_sent(field, name, *new))
            {
                notes.below(node::step(name), "added");
            }
        }),
    ),
    Rule {
        name: "field-added-required",
        level: Breaking,
        breaks: &[Json, Stored, Appliers],
        about: "A required field without a default is added.",
        harm: "clients that do not know it are refused, and so is every write of a stored object without it",
        instead: "Make the field optional, or give it a default that means what happened before.",
        source: source::COMPATIBILITY,
        check: Check::Field(|field, notes| {
            for (name, _) in added(field).filter(|(name, new)| must_be_sent(field, name, *new)) {
                notes.below(node::step(name), "added, required and without a default");
            }
        }),
    },
    Rule {
        name: "field-declared",
        level: Warning,
        breaks: &[Json, Stored],
        about: "A field is declared where all unknown fields were kept.",
        harm: "what is stored under its name may not fit the declaration, and is then refused with the next write",
        instead: "Check what is stored under the name.",
        source: source::COMPATIBILITY,
        check: Check::Field(|field, notes| {
            for (name, _) in added(field).filter(|(name, new)| field.old.is_open() && !must_be_sent(field, name, *new))
            {
                notes.below(node::step(name), "declared, where unknown fields were kept");
            }
        }),
    },
    Rule {
        name: "struct-became-map",
        level: Breaking,
        breaks: &[Json, Protobuf, Watchers],
        about: "Fields became the keys of a map.",
        harm: "typed clients do not find their fields, and values of other types are refused",
        instead: "Add a field for the map.",
        source: source::COMPATIBILITY,
        check: Check::Field(|field, notes| {
            if !field.old.fields().is_empty() && field.old.values().is_none() && field.new.values().is_some() {
                notes.here("was a struct, is a map");
            }
        }),
    },
    Rule {
        name: "map-became-struct",
        level: Breaking,
        breaks: &[Json, Protobuf, Stored],
        about: "A map takes no longer any key.",
        harm: "other keys are pruned from what is stored and sent, and typed clients do not decode the value",
        instead: "Add a field for the struct.",
        source: source::COMPATIBILITY,
        check: Check::Field(|field, notes| {
            let is_object = field.old.kind == field.new.kind;
            if is_object && field.old.values().is_some() && field.new.values().is_none() {
                notes.here("was a map, is a struct");
            }
        }),
    },
    Rule {
        name: "unknown-fields-pruned",
        level: Breaking,
        breaks: &[Json, Stored],
        about: "Unknown fields are no longer kept.",
        harm: "values that are not declared are pruned from what is stored and sent",
        instead: "Declare the fields that are in use first, and keep preserving the others.",
        source: source::FIELDS,
        check: Check::Field(|field, notes| {
            let is_same = field.old.kind == field.new.kind;
            if is_same && field.old.preserve_unknown && !field.new.preserve_unknown && field.new.values().is_none() {
                notes.here("no longer keeps unknown fields");
            }
        }),
    },
    Rule {
        name: "unknown-fields-kept",
        level: Warning,
        breaks: &[Json, Watchers],
        about: "Unknown fields are kept.",
        harm: "a misspelt field is stored without an error, and the fields that clients put there can never be pruned again",
        instead: "Declare the fields, or a map of them.",
        source: source::FIELDS,
        check: Check::Field(|field, notes| {
            let is_same = field.old.kind == field.new.kind;
            if is_same && !field.old.preserve_unknown && field.new.preserve_unknown {
                notes.here("keeps unknown fields");
            }
        }),
    },
    Rule::compatible(
        "documentation-changed",
        "A description, a title, an example or a link is another one.",
        Check::Field(documentation),
    ),
    Rule::compatible(
        "type-renamed",
        "The type of a value has another name in OpenAPI documents, after which generators name theirs.",
        Check::Field(|field, notes| {
            if let (Some(old), Some(new)) = (&field.old.name, &field.new.name)
                && old != new
                && [old, new].iter().all(|name| name.contains('.'))
            {
                notes.here(format!("its type was {old}, is {new}"));
            }
        }),
    ),
];

fn removed<'s>(field: &Field<'s>) -> impl Iterator<Item = &'s String> {
    let Field { old, new, .. } = *field;
    // A changed type is reported by itself.
    let is_same = old.kind == new.kind;
    old.fields().keys().filter(move |name| is_same && !new.fields().contains_key(name))
}

fn added<'s>(field: &Field<'s>) -> impl Iterator<Item = (&'s String, Node<'s>)> {
    let Field { old, new, .. } = *field;
    let is_same = old.kind == new.kind;
    let added = new.fields().keys().filter(move |name| is_same && !old.fields().contains_key(name));
    added.filter_map(move |name| Some((name, new.field(name)?)))
}

/// A writer has to send the field.
fn must_be_sent(field: &Field<'_>, name: &String, new: Node<'_>) -> bool {
    field.new.required().contains(name) && new.default.is_none()
}

fn documentation(field: &Field<'_>, notes: &mut Notes) {
    let [old, new] = [field.old, field.new].map(|node| {
        let published = node.unenforced.clone().unwrap_or_default();
        let texts = (node.description.clone(), node.type_description.clone(), published.title.clone());
        (texts, published.example.clone(), published.external_docs.clone())
    });
    if old != new {
        notes.here("the documentation is another one");
    }
}
