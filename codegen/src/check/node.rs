//! What is compared at a place in a schema, beside what the model's cursor says of it.
use std::ptr;

use kindsmith::schema::{Schema, Type};
use kindsmith_model::schema::At;

/// What tells places with the same children from others: a walk that comes to one again need not go on.
pub(super) fn identity(at: At<'_>) -> *const Schema {
    ptr::from_ref(at.children())
}

/// The names of required fields.
pub(super) fn required(at: At<'_>) -> &[String] {
    &at.children().required
}

/// True if a field is declared.
pub(super) fn has_field(at: At<'_>, name: &str) -> bool {
    at.property(name).is_some()
}

/// The values of a map that may have some.
pub(super) fn values(at: At<'_>) -> Option<At<'_>> {
    at.entry().filter(|values| values.boolean != Some(false))
}

/// Unknown fields are kept here.
pub(super) fn is_open(at: At<'_>) -> bool {
    at.preserve_unknown || at.kind == Type::Any
}

/// The fields, items and values that both have, each with the step to it.
pub(super) fn common<'s>(one: At<'s>, other: At<'s>) -> impl Iterator<Item = (String, At<'s>, At<'s>)> {
    let fields = one.properties().map(move |(name, field)| (step(name), Some(field), other.property(name)));
    let others = [("[]".to_owned(), one.items(), other.items()), (".*".to_owned(), values(one), values(other))];
    fields.chain(others).filter_map(|(step, one, other)| Some((step, one?, other?)))
}

/// The path of a field, to be put behind that of its struct.
pub(super) fn step(name: &str) -> String {
    let is_plain = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "_-$".contains(c));
    if is_plain { format!(".{name}") } else { format!("[{name:?}]") }
}
