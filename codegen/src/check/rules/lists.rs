//! How the items of a list are identified when lists merge.
use kindsmith::schema::{ListType, Type};

use super::listed;
use crate::check::rule::Field;

/// What another type of a list changes.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum ListChange {
    /// Items are identified, and were not.
    Granular,
    /// Items are no longer identified.
    Atomic,
    /// Items are identified by something else.
    Identity,
    /// The keys are given in another order.
    Order,
}

pub(super) fn changed(field: &Field<'_>, change: ListChange) -> Option<String> {
    let (old, new) = (&field.old.list, &field.new.list);
    let found = match (old, new) {
        _ if !field.is_of(Type::Array) || old == new => return None,
        (ListType::Atomic, _) => ListChange::Granular,
        (_, ListType::Atomic) => ListChange::Atomic,
        _ if sorted(old) == sorted(new) => ListChange::Order,
        _ => ListChange::Identity,
    };
    (found == change).then(|| format!("the list was {}, is {}", shown(old), shown(new)))
}

fn sorted(list: &ListType) -> ListType {
    let mut list = list.clone();
    if let ListType::Map(keys) = &mut list {
        keys.sort();
    }
    list
}

fn shown(list: &ListType) -> String {
    match list {
        ListType::Atomic => "atomic".to_owned(),
        ListType::Set => "a set".to_owned(),
        ListType::Map(keys) => format!("a map by {}", listed(keys)),
    }
}
