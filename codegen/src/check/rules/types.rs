//! Types and formats.
use kindsmith::schema::Type;
use kindsmith_model::schema::{At, format::is_known};

use crate::check::rule::{
    Direction::{self, Looser, Tighter},
    Field,
};

/// Another type: one with more values, one with fewer, or neither.
pub(super) fn changed(field: &Field<'_>, direction: Option<Direction>) -> Option<String> {
    let (old, new) = (field.old.kind, field.new.kind);
    let found = match () {
        () if contains(new, old) => Some(Looser),
        () if contains(old, new) => Some(Tighter),
        () => None,
    };
    (old != new && found == direction).then(|| format!("the type was {}, is {}", shown(old), shown(new)))
}

/// All values of the second type are of the first.
fn contains(wide: Type, narrow: Type) -> bool {
    match wide {
        Type::Any => true,
        Type::Number => narrow == Type::Integer,
        Type::IntOrString => matches!(narrow, Type::Integer | Type::String),
        _ => false,
    }
}

fn shown(kind: Type) -> &'static str {
    kind.name().unwrap_or(if kind == Type::IntOrString { "integer or string" } else { "anything" })
}

/// Another format of text, by whether the old one and the new one are checked.
pub(super) fn format(field: &Field<'_>, is_it: impl Fn(bool, bool) -> bool) -> Option<String> {
    let of = |node: At<'_>| node.format.clone().unwrap_or_default();
    let (old, new) = (of(field.old), of(field.new));
    let is_found = field.is_of(Type::String) && old != new && is_it(is_known(&old), is_known(&new));
    let shown = |format: String| if format.is_empty() { "absent".to_owned() } else { format };
    is_found.then(|| format!("the format was {}, is {}", shown(old), shown(new)))
}

/// An integer of 32 bits.
pub(super) fn is_int32(node: At<'_>) -> bool {
    node.kind == Type::Integer && node.format.as_deref() == Some("int32")
}

/// A number of 32 bits.
pub(super) fn is_float(node: At<'_>) -> bool {
    node.kind == Type::Number && node.format.as_deref() == Some("float")
}
