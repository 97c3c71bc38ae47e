//! Which values an update leaves unchanged, in the sense of kube-apiserver's ratcheting (`CorrelatedObject`): errors about one are dropped,
//! and a failed rule is a warning. It differs from [`same`](crate::schema::correlate::same) in two points: a field that no schema declares
//! and an item of a map list without keys have no counterpart, so that what they are in counts as changed.
use std::{cell::OnceCell, collections::HashMap};

use crate::schema::{At, Document, Meter, correlate::is_equal};

use super::place::entry;

/// So many items are searched one by one.
const FEW: usize = 8;

/// A value and its old counterpart.
#[derive(Debug)]
pub(crate) struct Pair<'d> {
    at: At<'d>,
    new: &'d Document,
    old: &'d Document,
    is_same: OnceCell<bool>,
    /// The items of an old map list, by their keys.
    old_items: OnceCell<HashMap<Vec<Key<'d>>, &'d Document>>,
}

/// The counterpart of a value, and of the nearest value around it that has one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Correlation<'p, 'd> {
    pub(super) own: Option<&'p Pair<'d>>,
    pub(super) around: Option<&'p Pair<'d>>,
}

/// The value of a key of a map list's item, as kube-apiserver compares them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Key<'d> {
    Bool(bool),
    Int(i64),
    Double(u64),
    Text(&'d str),
}

impl<'d> Pair<'d> {
    pub(crate) fn new(at: At<'d>, new: &'d Document, old: &'d Document) -> Self {
        Self { at, new, old, is_same: OnceCell::new(), old_items: OnceCell::new() }
    }

    /// The counterpart of a field or entry.
    pub(super) fn field(&self, name: &str) -> Option<Self> {
        let (new, old) = (self.new.as_object()?.get(name)?, self.old.as_object()?.get(name)?);
        let at = self.at.property(name).or_else(|| entry(self.at))?;
        Some(Self::new(at, new, old))
    }

    /// The old value.
    pub(super) fn old(&self) -> &'d Document {
        self.old
    }

    /// The counterpart of an item of a map list. For duplicate keys the first counts.
    pub(super) fn item(&self, item: &'d Document) -> Option<Self> {
        let (keys, at, old) = (self.at.keys()?, self.at.items()?, self.old.as_array()?);
        let found = if old.len() <= FEW {
            old.iter().find(|old| have_same_keys(keys, item, old))
        } else {
            let old = self.old_items.get_or_init(|| by_keys(keys, self.old));
            old.get(&keys_of(keys, item)?).copied()
        };
        Some(Self::new(at, item, found?))
    }

    /// True if the value is unchanged.
    pub(crate) fn is_same(&self, meter: &Meter) -> bool {
        *self.is_same.get_or_init(|| self.compare(meter))
    }

    fn compare(&self, meter: &Meter) -> bool {
        match (self.new, self.old) {
            (Document::Object(new), Document::Object(old)) => {
                let is = |name: &String| self.field(name).is_some_and(|field| field.is_same(meter));
                meter.step(1) && new.len() == old.len() && new.keys().all(is)
            }
            (Document::Array(new), Document::Array(old)) if self.at.keys().is_some() => {
                let is = |item| self.item(item).is_some_and(|item| item.is_same(meter));
                meter.step(1 + old.len()) && new.len() == old.len() && new.iter().all(is)
            }
            (new, old) => is_equal(new, old, meter),
        }
    }
}

impl<'p, 'd> Correlation<'p, 'd> {
    /// The correlation of something directly below, by its own counterpart.
    pub(super) fn below(self, own: Option<&'p Pair<'d>>) -> Self {
        if self.own.is_some() { Self { own, around: self.own } } else { self }
    }

    /// True if errors about the value are warnings: it, or the nearest value around it that has a counterpart, is unchanged.
    pub(super) fn is_unchanged(self, meter: &Meter) -> bool {
        self.own.or(self.around).is_some_and(|pair| pair.is_same(meter))
    }
}

/// The old items of a map list by their keys; those without keys are left out.
pub(super) fn by_keys<'d>(keys: &[String], list: &'d Document) -> HashMap<Vec<Key<'d>>, &'d Document> {
    let items = list.as_array().map_or(&[][..], Vec::as_slice);
    let items = items.iter().rev().filter(|item| item.is_object());
    items.filter_map(|item| Some((keys_of(keys, item)?, item))).collect()
}

/// The keys of an item; `None` if it has not all of them, or not as scalars.
pub(super) fn keys_of<'d>(keys: &[String], item: &'d Document) -> Option<Vec<Key<'d>>> {
    if keys.is_empty() { None } else { keys.iter().map(|key| key_of(item.get(key)?)).collect() }
}

fn have_same_keys(keys: &[String], one: &Document, other: &Document) -> bool {
    let is = |name: &String| match (one.get(name).and_then(key_of), other.get(name).and_then(key_of)) {
        (Some(one), Some(other)) => one == other,
        _ => false,
    };
    !keys.is_empty() && keys.iter().all(is)
}

fn key_of(value: &Document) -> Option<Key<'_>> {
    match value {
        Document::Bool(value) => Some(Key::Bool(*value)),
        Document::Number(number) => {
            number.as_i64().map(Key::Int).or_else(|| Some(Key::Double((number.as_f64()? + 0.0).to_bits())))
        }
        Document::String(text) => Some(Key::Text(text)),
        Document::Null | Document::Array(_) | Document::Object(_) => None,
    }
}
