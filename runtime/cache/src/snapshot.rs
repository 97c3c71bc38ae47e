//! The state of a resource at one revision, and a few past states kept for paging.

use std::{
    collections::VecDeque,
    ops::Range,
    sync::Arc,
    time::{Duration, Instant},
};

use super::{
    object::Object,
    tree::{Iter, Tree},
};
use crate::meta::Revision;

/// A resource's objects at one revision, in key order. Cheap to take, to clone and to keep for a while.
#[derive(Clone)]
pub struct Snapshot {
    pub(super) revision: Revision,
    pub(super) tree: Tree,
}

impl Snapshot {
    /// The revision of this state.
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// The object with a key.
    pub fn get(&self, key: &str) -> Option<Arc<Object>> {
        self.tree.get(key).cloned()
    }

    /// The number of objects.
    pub fn len(&self) -> usize {
        self.tree.len()
    }

    /// True if there are no objects.
    pub fn is_empty(&self) -> bool {
        self.tree.len() == 0
    }

    /// True if both are the same state, so that one need not look for differences. Two states with equal objects may count as
    /// different.
    pub fn is_same(&self, other: &Self) -> bool {
        self.tree.is_same(&other.tree)
    }

    /// The objects that are only in this state, and those that are only in a later one of the same resource. A changed object is in
    /// both lists. The cost is about that of the changes in between.
    pub fn differences(&self, later: &Self) -> (Vec<Arc<Object>>, Vec<Arc<Object>>) {
        self.tree.differences(&later.tree)
    }

    /// A state of only these objects.
    pub fn of(revision: Revision, mut objects: Vec<Arc<Object>>) -> Self {
        objects.sort_by(|a, b| a.key().cmp(b.key()));
        Self { revision, tree: Tree::from_sorted(objects) }
    }

    /// Objects whose key has the prefix (empty for all, `ns/` for a namespace) and is after `after`, in order.
    pub fn range(&self, prefix: &str, after: Option<&str>) -> impl ExactSizeIterator<Item = &Arc<Object>> {
        self.slice(self.positions(prefix, after))
    }

    /// Objects between two positions in key order.
    pub fn slice(&self, positions: Range<usize>) -> Objects<'_> {
        Objects(self.tree.slice(positions.start, positions.end))
    }

    /// The size as JSON of the objects between two positions, in O(log n).
    pub fn json_bytes(&self, positions: Range<usize>) -> usize {
        self.tree.json_bytes(positions.start, positions.end)
    }

    /// True if some objects cannot be decoded.
    pub fn has_unreadable(&self) -> bool {
        self.tree.has_unreadable()
    }

    /// The number of objects that `range` would return, in O(log n).
    pub fn count(&self, prefix: &str, after: Option<&str>) -> usize {
        self.positions(prefix, after).len()
    }

    /// The positions in key order of the objects that `range` would return, in O(log n).
    pub fn positions(&self, prefix: &str, after: Option<&str>) -> Range<usize> {
        let from = self.tree.rank(|key| key < prefix || after.is_some_and(|after| key <= after));
        let to =
            if prefix.is_empty() { self.len() } else { self.tree.rank(|key| key < prefix || key.starts_with(prefix)) };
        from..to.max(from)
    }

    /// The position of an object in key order; empty if the key does not exist.
    pub fn position(&self, key: &str) -> Range<usize> {
        let at = self.tree.rank(|other| other < key);
        at..at + usize::from(self.tree.get(key).is_some())
    }
}

/// Objects of a snapshot, in key order.
pub struct Objects<'a>(Iter<'a>);

impl<'a> Iterator for Objects<'a> {
    type Item = &'a Arc<Object>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl ExactSizeIterator for Objects<'_> {}

/// The maximum number of past snapshots per resource; `KEPT_FOR` limits the time since their last use. They are a
/// shortcut: each can be made again from the window, which has all of their past objects. Besides those, one takes at
/// most the nodes of a tree, about twenty bytes an object.
const KEPT: usize = 4;
const KEPT_FOR: Duration = Duration::from_mins(2);

/// Past snapshots, least recently used first.
#[derive(Default)]
pub(super) struct Past {
    kept: VecDeque<(Instant, Snapshot)>,
}

impl Past {
    /// Keeps a snapshot of a revision that is not before the window's floor.
    pub(super) fn keep(&mut self, snapshot: Snapshot, floor: Revision) {
        self.kept.retain(|(_, kept)| kept.revision != snapshot.revision);
        self.kept.push_back((Instant::now(), snapshot));
        self.prune(floor);
    }

    pub(super) fn find(&mut self, revision: Revision) -> Option<Snapshot> {
        let at = self.kept.iter().position(|(_, kept)| kept.revision == revision)?;
        let (_, snapshot) = self.kept.remove(at)?;
        self.kept.push_back((Instant::now(), snapshot.clone()));
        Some(snapshot)
    }

    /// Drops surplus and expired snapshots, and those whose past objects the window no longer has.
    pub(super) fn prune(&mut self, floor: Revision) {
        if self.kept.is_empty() {
            return;
        }
        self.kept.retain(|(used, kept)| kept.revision >= floor && used.elapsed() <= KEPT_FOR);
        while self.kept.len() > KEPT {
            self.kept.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{super::DecodedValue, *};

    fn snapshot(revision: u64, keys: &[&str]) -> Snapshot {
        let object = |key: &&str| {
            let body = r#"{"metadata":{"name":"x"}}"#.into();
            Arc::new(Object::compose(key, Revision(1), "", DecodedValue::plain(Ok(body))))
        };
        Snapshot { revision: Revision(revision), tree: Tree::from_sorted(keys.iter().map(object)) }
    }

    #[test]
    fn ranges_and_counts_respect_prefix_and_start() {
        let snapshot = snapshot(9, &["a-b/x", "a/x", "a/y", "a/z", "a0/x", "b/x"]);
        let keys = |prefix: &str, after: Option<&str>| {
            let keys: Vec<_> = snapshot.range(prefix, after).map(|object| object.key().to_owned()).collect();
            assert_eq!(keys.len(), snapshot.count(prefix, after));
            keys
        };
        assert_eq!(keys("a/", None), ["a/x", "a/y", "a/z"]);
        assert_eq!(keys("a/", Some("a/x")), ["a/y", "a/z"]);
        assert_eq!(keys("a/", Some("a/xx")), ["a/y", "a/z"]);
        assert_eq!(keys("a/", Some("a/z")), [""; 0]);
        assert_eq!(keys("a/", Some("b/x")), [""; 0]);
        assert_eq!(keys("a/", Some("a-b/x")).len(), 3);
        assert_eq!(keys("", Some("a/z")), ["a0/x", "b/x"]);
        assert_eq!(keys("", None).len(), 6);
        assert_eq!(keys("c/", None), [""; 0]);
    }

    #[test]
    fn the_least_recently_used_past_snapshot_goes_first() {
        let mut past = Past::default();
        for revision in 1..=4 {
            past.keep(snapshot(revision, &[]), Revision(0));
        }
        assert!(past.find(Revision(1)).is_some());
        past.keep(snapshot(5, &[]), Revision(0));
        assert!(past.find(Revision(2)).is_none());
        assert!([1, 3, 4, 5].iter().all(|revision| past.find(Revision(*revision)).is_some()));
    }

    #[test]
    fn past_snapshots_below_the_floor_go() {
        let mut past = Past::default();
        past.keep(snapshot(3, &[]), Revision(0));
        past.keep(snapshot(4, &[]), Revision(0));
        past.prune(Revision(4));
        assert!(past.find(Revision(3)).is_none() && past.find(Revision(4)).is_some());
    }
}
