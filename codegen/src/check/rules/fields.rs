//! Fields of structs: which are declared, which are required, and what is said about them.
use kindsmith::schema::Document;

use crate::check::{
    node::{self, has_field, step},
    rule::{
        Direction::{self, Looser, Tighter},
        Field, Notes, listed,
    },
};

/// Fields that are removed, where unknown fields are kept, or where they are not.
pub(super) fn removed(field: &Field<'_>, is_open: bool, what: &str, notes: &mut Notes) {
    let is_it = field.has_same_type() && node::is_open(field.new) == is_open && node::values(field.new).is_none();
    for (name, _) in field.old.properties().filter(|(name, _)| is_it && !has_field(field.new, name)) {
        notes.below(step(name), what);
    }
}

/// Fields that are added, and that a writer has to send, or need not.
pub(super) fn added(field: &Field<'_>, is_it: impl Fn(bool) -> bool, what: &str, notes: &mut Notes) {
    for (name, new) in field.new.properties() {
        let must_be_sent = node::required(field.new).contains(name) && new.default.is_none();
        if field.has_same_type() && !has_field(field.old, name) && is_it(must_be_sent) {
            notes.below(step(name), what);
        }
    }
}

/// The type of the value has another name.
pub(super) fn type_renamed(field: &Field<'_>, notes: &mut Notes) {
    if let (Some(old), Some(new)) = (&field.old.name, &field.new.name) {
        let is_found = old != new && [old, new].iter().all(|name| name.contains('.'));
        notes.when(is_found, format!("its type was {old}, is {new}"));
    }
}

pub(super) fn documentation(field: &Field<'_>, notes: &mut Notes) {
    let [old, new] = [field.old, field.new].map(|node| {
        let published = node.unenforced.clone().unwrap_or_default();
        let texts = (node.description.clone(), node.type_description.clone(), published.title.clone());
        (texts, published.example.clone(), published.external_docs.clone())
    });
    notes.when(old != new, "the documentation is another one");
}

pub(super) fn required_added(field: &Field<'_>, notes: &mut Notes) {
    // The status is judged as a whole.
    for name in required(field, Tighter).filter(|name| !field.is_status && !has_default(field, name)) {
        notes.below(step(name), "is required");
    }
}

pub(super) fn required_with_default(field: &Field<'_>, notes: &mut Notes) {
    for name in required(field, Tighter).filter(|name| has_default(field, name)) {
        notes.below(step(name), "is required, and has a default");
    }
}

pub(super) fn required_removed(field: &Field<'_>, notes: &mut Notes) {
    for name in required(field, Looser).filter(|name| !has_default(field, name)) {
        notes.below(step(name), "is optional");
    }
}

/// The fields of the status that are required now.
pub(super) fn required_in_status(field: &Field<'_>) -> Option<String> {
    let names: Vec<_> = required(field, Tighter).filter(|name| !has_default(field, name)).collect();
    (!names.is_empty()).then(|| format!("{} required", listed(names)))
}

/// The fields of both sides that are required on one of them only.
fn required<'s>(field: &Field<'s>, direction: Direction) -> impl Iterator<Item = &'s String> {
    let Field { old, new, .. } = *field;
    let (having, lacking) = if direction == Tighter { (new, old) } else { (old, new) };
    let only = node::required(having).iter().filter(move |name| !node::required(lacking).contains(name));
    // What is required of entries of a map need not be declared.
    only.filter(move |name| has_field(old, name) == has_field(new, name))
}

fn has_default(field: &Field<'_>, name: &str) -> bool {
    field
        .new
        .property(name)
        .is_some_and(|field| field.default.as_ref().is_some_and(|default| *default != Document::Null))
}
