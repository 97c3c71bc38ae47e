//! An index of a selectable field or a label: the objects that have it, by value. A persistent tree like that of the
//! objects, and part of the same state.
//!
//! An entry is a pointer to the texts of an object, about 18 bytes. A write that changes no label and no selectable field
//! shares these texts with the object's earlier version and leaves every index as it is.

use std::{
    ops::Range,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use super::{
    btree::{BTree, Iter, Order, SortKey},
    texts::PackedTexts,
};

/// The field or label of an index.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Term {
    /// A selectable field by its position. Objects without a value are not in the index.
    Field(usize),
    /// A label by its key. Objects without the label are not in the index.
    Label(Box<str>),
}

impl Term {
    /// The value that an object has, if the index has the object.
    fn value<'t>(&self, texts: &'t PackedTexts) -> Option<&'t str> {
        match self {
            Self::Field(position) => texts.fields().nth(*position).filter(|value| !value.is_empty()),
            Self::Label(key) => texts.labels().find(|(name, _)| *name == &**key).map(|(_, value)| value),
        }
    }
}

/// A condition of a selector that an index can answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// The field or label.
    pub term: Term,
    /// The allowed values, sorted and unique; `None` if any value is allowed.
    pub values: Option<Vec<Box<str>>>,
}

/// Entries are sorted by value, then by key: those with one value are in key order, those of a namespace together.
#[derive(Clone)]
pub(super) struct ByValue(Arc<Term>);

impl Order for ByValue {
    type Entry = PackedTexts;
    type Bound = PackedTexts;

    fn key<'a>(&self, entry: &'a PackedTexts) -> SortKey<'a> {
        (self.0.value(entry).unwrap_or_default(), entry.key())
    }

    fn bound(&self, entry: &PackedTexts) -> PackedTexts {
        entry.clone()
    }

    fn bound_key<'a>(&self, bound: &'a PackedTexts) -> SortKey<'a> {
        self.key(bound)
    }

    fn size(&self, _entry: &PackedTexts) -> usize {
        0
    }

    fn is_same(&self, a: &PackedTexts, b: &PackedTexts) -> bool {
        a == b
    }
}

/// The index of one term.
#[derive(Clone)]
pub(super) struct Index {
    entries: BTree<ByValue>,
    /// The number of searches, in all versions.
    searches: Arc<AtomicU64>,
}

/// The approximate size of an entry in bytes, with its share of the nodes.
pub(super) const ENTRY_BYTES: usize = 20;

impl Index {
    /// The index of objects with these texts, which are in key order.
    pub(super) fn build<'t>(term: &Term, texts: impl Iterator<Item = &'t PackedTexts>) -> Self {
        // Most values differ within eight bytes, which are compared without a look at the texts.
        let valued = |texts: &'t PackedTexts| term.value(texts).map(|value| (beginning(value), value, texts));
        let mut sorted: Vec<_> = texts.filter_map(valued).collect();
        // The sort is stable, so that keys stay in order.
        sorted.sort_by(|a, b| (a.0, a.1).cmp(&(b.0, b.1)));
        let entries = sorted.into_iter().map(|(.., texts)| texts.clone());
        Self { entries: BTree::from_sorted(ByValue(Arc::new(term.clone())), entries), searches: Arc::default() }
    }

    pub(super) fn term(&self) -> &Term {
        &self.entries.order().0
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The number of searches so far.
    pub(super) fn searches(&self) -> u64 {
        self.searches.load(Ordering::Relaxed)
    }

    pub(super) fn searched(&self) {
        self.searches.fetch_add(1, Ordering::Relaxed);
    }

    /// Replaces the texts of an object.
    pub(super) fn replace(&mut self, old: Option<&PackedTexts>, new: Option<&PackedTexts>) {
        let (old_value, new_value) = (self.value(old), self.value(new));
        if let Some((value, texts)) = old_value
            && old_value.map(|(value, _)| value) != new_value.map(|(value, _)| value)
        {
            self.entries.remove((value, texts.key()));
        }
        // Also for an equal value: so the old texts are not kept for it.
        if let Some((_, texts)) = new_value {
            self.entries.insert(texts.clone());
        }
    }

    fn value<'t>(&self, texts: Option<&'t PackedTexts>) -> Option<(&'t str, &'t PackedTexts)> {
        texts.and_then(|texts| Some((self.term().value(texts)?, texts)))
    }

    /// The positions of entries with a value whose keys have the prefix and are after `after`.
    pub(super) fn positions(&self, value: &str, prefix: &str, after: Option<&str>) -> Range<usize> {
        let is_before = |key: &str| key < prefix || after.is_some_and(|after| key <= after);
        let from = self.entries.rank(|(other, key)| other < value || (other == value && is_before(key)));
        let to = self
            .entries
            .rank(|(other, key)| other < value || (other == value && (key < prefix || key.starts_with(prefix))));
        from..to.max(from)
    }

    pub(super) fn slice(&self, positions: Range<usize>) -> Iter<'_, ByValue> {
        self.entries.slice(positions.start, positions.end)
    }
}

/// The first eight bytes of a text, in an order that agrees with that of texts.
fn beginning(text: &str) -> u64 {
    let mut first = [0; 8];
    let length = text.len().min(first.len());
    first[..length].copy_from_slice(&text.as_bytes()[..length]);
    u64::from_be_bytes(first)
}
