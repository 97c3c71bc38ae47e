//! A window that a pass fills.
//!
//! Its changes are rendered from the newest to the oldest, from the state at the window's floor: the object after a change is
//! known there, so that only replaced values are rendered, each once.

use std::{collections::HashMap, sync::Arc};

use crate::{
    change::{self, Change},
    lock::lock,
    meta::Revision,
    object::{EventType, Object},
    reader::DecodedValue,
    replica::Replica,
    storage::Previous,
    tree::Tree,
};

/// A window to fill.
pub(super) struct Target<'a> {
    pub(super) replica: &'a Replica,
    /// The beginning of the window that the pass has seen.
    pub(super) beginning: u64,
    /// The window's floor, up to which the pass reads.
    pub(super) floor: Revision,
    /// The state at the floor.
    tree: Tree,
    /// The objects in it that the log wrote, by revision: most changes are found here without a search for their key.
    written: Vec<(Revision, Arc<Object>)>,
    /// The last change that was too much for the budget.
    pub(super) dropped: Revision,
}

/// A change as the log has it.
pub(super) struct Past {
    pub(super) revision: Revision,
    pub(super) key: Arc<str>,
    pub(super) deletes: bool,
    pub(super) previous: Previous,
}

impl<'a> Target<'a> {
    /// The window of a resource, if the log begins after a revision.
    pub(super) fn new(replica: &'a Replica, base: Revision) -> Self {
        let (tree, window, beginning) = {
            let feed = lock(&replica.feed);
            (feed.tree.clone(), feed.window(), feed.beginnings())
        };
        let floor = window.floor();
        let tree = window.undone(tree, floor);
        let objects = tree.slice(0, tree.len()).map(|object| (object.revision(), object));
        let mut written: Vec<_> =
            objects.filter(|(at, _)| *at > base).map(|(at, object)| (at, Arc::clone(object))).collect();
        written.sort_unstable_by_key(|(at, _)| *at);
        Self { replica, beginning, floor, tree, written, dropped: Revision(0) }
    }

    /// The object that a change wrote, unless a later change has replaced it.
    pub(super) fn newest(&self, revision: Revision) -> Option<&Arc<Object>> {
        let found = self.written.binary_search_by_key(&revision, |(at, _)| *at);
        found.ok().map(|position| &self.written[position].1)
    }

    /// Renders changes from the newest to the oldest. Returns them in order, and the revision after which they are
    /// complete: zero, or that of a change which replaced a value that cannot be read.
    pub(super) fn render(&self, past: &[Past]) -> (Vec<Arc<Change>>, Revision) {
        let mut older: HashMap<&str, Option<Arc<Object>>> = HashMap::new();
        let (mut changes, mut floor) = (Vec::with_capacity(past.len()), Revision(0));
        // Nothing before a value that cannot be read is used.
        let is_gap = |change: &Past| matches!(change.previous, Previous::Value(_, Err(_)) | Previous::Unread);
        let usable = &past[past.iter().rposition(is_gap).unwrap_or_default()..];
        let values = usable.iter().filter_map(|change| match &change.previous {
            Previous::Value(_, Ok(value)) => Some((&*change.key, value)),
            Previous::Value(_, Err(_)) | Previous::Absent | Previous::Unread => None,
        });
        let mut read = self.replica.keyspace.reader.read_all(&values.collect::<Vec<_>>());
        for change in past.iter().rev() {
            let key = self.replica.keyspace.below(&change.key);
            let written = || self.newest(change.revision).filter(|object| object.key() == key);
            let newest = || written().or_else(|| self.tree.get(key));
            let new = older.get(key).cloned().unwrap_or_else(|| newest().cloned());
            let is_known = new.as_ref().map(|new| new.revision()) == (!change.deletes).then_some(change.revision);
            let old = match &change.previous {
                _ if !is_known => Err(()),
                Previous::Absent => Ok(None),
                Previous::Value(revision, Ok(_)) => {
                    read.pop().map(|decoded| Some(self.old(past, key, *revision, decoded))).ok_or(())
                }
                Previous::Value(_, Err(_)) | Previous::Unread => Err(()),
            };
            let Ok(old) = old else {
                floor = change.revision;
                break;
            };
            older.insert(key, old.clone());
            changes.push(Arc::new(Change::new(change.revision, new, old)));
        }
        changes.reverse();
        (changes, floor)
    }

    /// A replaced object, as the change that wrote it left it.
    fn old(&self, past: &[Past], key: &str, revision: Revision, decoded: DecodedValue) -> Arc<Object> {
        let writer = past.binary_search_by_key(&revision, |change| change.revision).ok();
        let modified = writer.is_some_and(|writer| past[writer].previous != Previous::Absent);
        let natural = if modified { EventType::Modified } else { EventType::Added };
        Arc::new(Object::compose_as(natural, key, revision, self.replica.keyspace.reader.type_meta(), decoded))
    }
}

impl Past {
    pub(super) fn size(&self) -> usize {
        change::OVERHEAD + self.previous.size()
    }
}
