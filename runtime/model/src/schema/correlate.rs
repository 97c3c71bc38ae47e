//! Matches the values of an object with those before a write, as far as possible (KEP-4008).
//!
//! Fields of structs and entries of maps are matched by name, also in atomic ones. Items of map lists are matched by
//! their keys. Items of other lists have no identity and are not matched individually, only the list as a whole is.
use std::collections::HashMap;

use super::{At, Document, Meter, Schema, rules::Pair};

/// The old counterpart of a value.
#[derive(Clone, Copy)]
pub(super) struct Before<'o>(Option<&'o Document>);

impl<'o> Before<'o> {
    /// No counterpart, or an unknown one.
    pub(super) const NOTHING: Self = Self(None);

    /// The old object itself.
    pub(super) fn of(old: &'o Document) -> Self {
        Self(Some(old))
    }

    /// The old value.
    pub(super) fn value(self) -> Option<&'o Document> {
        self.0
    }

    /// True if a value is unchanged. Items of map lists may be in another order.
    pub(super) fn is(self, at: At<'_>, value: &Document, meter: &Meter) -> bool {
        self.0.is_some_and(|old| same(at, value, old, meter))
    }

    /// The same as kube-apiserver's ratcheting has it (`CorrelatedObject`): a field that no schema declares has no counterpart, so that what
    /// it is in counts as changed. Unlike there, a map list whose items lack keys is unchanged if it is the same list, so that objects
    /// from before the keys can be written.
    pub(super) fn is_correlated(self, at: At<'_>, value: &Document, meter: &Meter) -> bool {
        self.0.is_some_and(|old| {
            Pair::new(at, value, old).is_same(meter) || at.keys().is_some() && is_equal(value, old, meter)
        })
    }

    /// The counterpart of a field of a struct, or of an entry of a map.
    pub(super) fn field(self, name: &str) -> Self {
        Self(self.0.and_then(|old| old.get(name)))
    }

    /// The counterparts of a list's items.
    pub(super) fn items(self, at: At<'o>) -> Items<'o> {
        Items(match (self.0, at.keys()) {
            (Some(Document::Array(old)), Some(keys)) => Some((keys, by_keys(keys, old))),
            _ => None,
        })
    }
}

pub(crate) type Keys<'d> = Vec<Option<&'d Document>>;

/// The counterparts of a list's items: those of a map list by their keys; none for other lists.
pub(super) struct Items<'o>(Option<(&'o [String], HashMap<Keys<'o>, &'o Document>)>);

impl<'o> Items<'o> {
    /// The counterpart of an item. For duplicate keys the first counts.
    pub(super) fn of(&self, item: &Document) -> Before<'o> {
        let Some((keys, by_keys)) = &self.0 else { return Before::NOTHING };
        Before(by_keys.get(&keys_of(keys, item)).copied())
    }

    /// The same for an item that has all keys; none for others.
    pub(super) fn of_identified(&self, item: &Document) -> Before<'o> {
        let keys = self.0.as_ref().map(|(keys, _)| *keys).unwrap_or_default();
        let has_all = keys.iter().all(|key| item.get(key).is_some_and(|key| !key.is_null()));
        if has_all { self.of(item) } else { Before::NOTHING }
    }
}

/// The values of the keys of an item, which identify it.
pub fn keys_of<'d>(keys: &[String], item: &'d Document) -> Keys<'d> {
    keys.iter().map(|key| item.get(key)).collect()
}

fn by_keys<'d>(keys: &[String], items: &'d [Document]) -> HashMap<Keys<'d>, &'d Document> {
    items.iter().rev().map(|item| (keys_of(keys, item), item)).collect()
}

/// True if two values are equal. Each level of a walk may compare all below it again, so that comparisons take steps.
pub(super) fn is_equal(new: &Document, old: &Document, meter: &Meter) -> bool {
    meter.step(1)
        && match (new, old) {
            (Document::Object(new), Document::Object(old)) => {
                let is = |((a, new), (b, old)): ((&String, _), (&String, _))| a == b && is_equal(new, old, meter);
                new.len() == old.len() && new.iter().zip(old).all(is)
            }
            (Document::Array(new), Document::Array(old)) => {
                new.len() == old.len() && new.iter().zip(old).all(|(new, old)| is_equal(new, old, meter))
            }
            _ => new == old,
        }
}

/// The same where items of map lists may be in another order.
pub(super) fn same(at: At<'_>, new: &Document, old: &Document, meter: &Meter) -> bool {
    match (new, old) {
        (Document::Object(new), Document::Object(old)) => {
            let is = |(name, new): (&String, _)| {
                old.get(name).is_some_and(|old| match at.member(name) {
                    Some(at) => same(at, new, old, meter),
                    None => is_equal(new, old, meter),
                })
            };
            meter.step(1) && new.len() == old.len() && new.iter().all(is)
        }
        (Document::Array(new), Document::Array(old)) if at.keys().is_some() => match (at.keys(), at.items()) {
            (Some(keys), Some(items)) => new.len() == old.len() && same_items(items, keys, (new, old), meter),
            _ => new == old,
        },
        _ => is_equal(new, old, meter),
    }
}

/// True if two map lists of the same length have the same items. If items share their keys, the order counts.
fn same_items(at: At<'_>, keys: &[String], (new, old): (&[Document], &[Document]), meter: &Meter) -> bool {
    if !meter.step(new.len() * keys.len()) {
        return false;
    }
    let in_order = new.iter().zip(old).all(|(new, old)| keys_of(keys, new) == keys_of(keys, old));
    if in_order {
        return new.iter().zip(old).all(|(new, old)| same(at, new, old, meter));
    }
    let (given, known) = (by_keys(keys, new), by_keys(keys, old));
    let is = |(keys, new): (_, &&Document)| known.get(keys).is_some_and(|old| same(at, new, old, meter));
    given.len() == new.len() && known.len() == old.len() && given.iter().all(is)
}

/// The fields of an object except those of the server and those written through a subresource.
fn rest(object: &Document) -> impl Iterator<Item = (&String, &Document)> {
    let other = |name: &str| !matches!(name, "apiVersion" | "kind" | "metadata" | "status");
    object.as_object().into_iter().flatten().filter(move |(name, _)| other(name))
}

/// True if an object is unchanged except for its metadata and its status. Removing the status counts as a
/// change.
pub fn rest_is_kept(schema: &Schema, new: &Document, old: &Document) -> bool {
    let meter = &Meter::default();
    let before = Before::of(old);
    let is = |(name, value): (&String, &Document)| match At::of(schema).property(name) {
        Some(at) => before.field(name).is(at, value, meter),
        None => old.get(name) == Some(value),
    };
    rest(new).count() == rest(old).count()
        && (new.get("status").is_some() || old.get("status").is_none())
        && rest(new).all(is)
}

/// Restores the old object except for its metadata, and sets a status.
pub fn restore(new: &mut Document, old: &Document, status: Option<Document>) {
    let Some(fields) = new.as_object_mut() else { return };
    fields.retain(|name, _| matches!(name.as_str(), "apiVersion" | "kind" | "metadata"));
    fields.extend(rest(old).map(|(name, value)| (name.clone(), value.clone())));
    fields.extend(status.map(|status| ("status".to_owned(), status)));
}
