//! Search by indexes: the objects of a snapshot that meet a condition, without a look at the others.
//!
//! A condition with one value walks its entries, which are in key order. One with several values, or with any, sorts the keys of
//! all its entries first. Each entry costs a look-up of its object, so that an index with most of the objects in it is worse
//! than a scan: the cheaper way is taken, with the sizes that the indexes know exactly.

use std::{iter, ops::Range, sync::Arc, vec};

use super::{
    btree::Iter,
    index::{ByValue, Condition, Index},
    object::Object,
    snapshot::Snapshot,
    texts::PackedTexts,
    tree::Tree,
};

/// The cost of an entry of an index, in scanned objects.
pub(super) const LOOKUP: usize = 4;

/// The part of a snapshot in which to search.
#[derive(Clone, Copy, Debug, Default)]
pub struct Scope<'s> {
    /// The prefix of the keys: a namespace, or empty.
    pub prefix: &'s str,
    /// The key after which to begin.
    pub after: Option<&'s str>,
    /// The number of objects that are needed; zero means all.
    pub limit: usize,
}

impl Snapshot {
    /// The objects that meet one of the conditions, in key order, and so all that meet all of them. `None` if a scan costs
    /// less, or if the fields and labels of some objects are unknown.
    pub fn search(&self, conditions: &[Condition], scope: Scope<'_>) -> Option<Hits<'_>> {
        if self.tree.indexes().is_empty() || self.tree.has_unreadable() {
            return None;
        }
        let indexed = conditions.iter().filter_map(|condition| Some((condition, self.tree.index(&condition.term)?)));
        let (condition, index, found) = indexed
            .map(|(condition, index)| (condition, index, positions(index, condition, scope)))
            .min_by_key(|(.., found)| count(found))?;
        let (entries, range) = (count(&found), self.count(scope.prefix, scope.after));
        // A scan examines about this many until it has found enough.
        let scanned = if scope.limit > 0 { range.min(scope.limit * range / entries.max(1)) } else { range };
        let walked = match found.as_slice() {
            [_] if condition.values.is_some() && scope.limit > 0 => entries.min(scope.limit),
            _ => entries,
        };
        if walked * LOOKUP > scanned {
            return None;
        }
        index.searched();
        Some(Hits { tree: &self.tree, texts: sorted(index, condition, found, scope) })
    }

    /// True if there is an index for a condition.
    pub(super) fn has_index(&self, condition: &Condition) -> bool {
        self.tree.index(&condition.term).is_some()
    }
}

/// Where entries of an index meet a condition. If any value is allowed, the scope is not considered.
fn positions(index: &Index, condition: &Condition, scope: Scope<'_>) -> Vec<Range<usize>> {
    match &condition.values {
        Some(values) => {
            let found = values.iter().map(|value| index.positions(value, scope.prefix, scope.after));
            found.filter(|positions| !positions.is_empty()).collect()
        }
        None => iter::once(0..index.len()).collect(),
    }
}

fn count(positions: &[Range<usize>]) -> usize {
    positions.iter().map(Range::len).sum()
}

/// Entries in key order.
fn sorted<'a>(index: &'a Index, condition: &Condition, found: Vec<Range<usize>>, scope: Scope<'_>) -> Texts<'a> {
    if condition.values.is_some() && found.len() <= 1 {
        return Texts::Walked(index.slice(found.into_iter().next().unwrap_or_default()));
    }
    let is_after = |key: &str| scope.after.is_none_or(|after| key > after);
    let entries = found.into_iter().flat_map(|positions| index.slice(positions));
    let entries = entries.filter(|texts| texts.key().starts_with(scope.prefix) && is_after(texts.key()));
    let mut entries: Vec<_> = entries.collect();
    entries.sort_unstable_by_key(|texts| texts.key());
    Texts::Sorted(entries.into_iter())
}

/// The objects that a search found, in key order.
pub struct Hits<'a> {
    tree: &'a Tree,
    texts: Texts<'a>,
}

enum Texts<'a> {
    Walked(Iter<'a, ByValue>),
    Sorted(vec::IntoIter<&'a PackedTexts>),
}

impl<'a> Iterator for Hits<'a> {
    type Item = &'a Arc<Object>;

    fn next(&mut self) -> Option<Self::Item> {
        let texts = match &mut self.texts {
            Texts::Walked(walked) => walked.next(),
            Texts::Sorted(sorted) => sorted.next(),
        };
        // An index has the keys of the tree that it is part of.
        texts.and_then(|texts| self.tree.get(texts.key()))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = match &self.texts {
            Texts::Walked(walked) => walked.len(),
            Texts::Sorted(sorted) => sorted.len(),
        };
        (left, Some(left))
    }
}

impl ExactSizeIterator for Hits<'_> {}
