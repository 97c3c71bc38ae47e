//! The past from the present: a range at an old revision is the newest values with the changes since then undone.
//! Pure; both engines read their own log and hand the changes here.

use std::{collections::BTreeMap, sync::Arc};

use super::{Change, Entry};

/// Keys and their values as of some revision, moved backwards one change at a time.
pub(super) struct Past {
    prefix: Box<str>,
    entries: BTreeMap<Arc<str>, Entry>,
}

impl Past {
    /// Starts from the newest values of the keys with a prefix.
    pub(super) fn new(prefix: &str, newest: Vec<Entry>) -> Self {
        Self {
            prefix: prefix.into(),
            entries: newest.into_iter().map(|entry| (Arc::clone(&entry.key), entry)).collect(),
        }
    }

    /// Takes back one change. Changes must come newest first, without gaps.
    pub(super) fn undo(&mut self, change: Change) {
        if !change.key.starts_with(&*self.prefix) {
            return;
        }
        match change.previous {
            Some((revision, value)) => {
                let entry = Entry { key: Arc::clone(&change.key), value, revision };
                self.entries.insert(change.key, entry);
            }
            None => {
                self.entries.remove(&change.key);
            }
        }
    }

    /// The entries in key order.
    pub(super) fn finish(self) -> Vec<Entry> {
        self.entries.into_values().collect()
    }
}
