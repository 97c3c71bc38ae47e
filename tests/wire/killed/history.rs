//! The watched events so far, over all kills.

use kindsmith_tests::{Client, Random};

use crate::watcher::Watcher;

/// One change of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    /// The object's name.
    pub name: String,
    /// Its resourceVersion; `None` if the acknowledgement did not contain it (deletions answer a Status).
    pub revision: Option<u64>,
    /// The number of the write in its data, or `None` for a deletion.
    pub write: Option<u64>,
}

/// All changes in watch order.
pub(crate) struct History {
    since: u64,
    changes: Vec<Change>,
}

impl History {
    /// An empty history at a revision.
    pub(crate) fn since(revision: u64) -> Self {
        Self { since: revision, changes: Vec::new() }
    }

    /// The revision to resume from.
    pub(crate) fn last(&self) -> u64 {
        self.changes.last().and_then(|change| change.revision).unwrap_or(self.since)
    }

    /// Adds the changes of a watch.
    pub(crate) fn extend(&mut self, changes: Vec<Change>) {
        for change in changes {
            let revision = change.revision.expect("an event has a revision");
            assert!(revision > self.last(), "revision {revision} came after {}", self.last());
            self.changes.push(change);
        }
    }

    /// The changes of one object, with revisions as far as acknowledgements contain them.
    pub(crate) fn of(&self, name: &str) -> Vec<Change> {
        let mut changes: Vec<Change> = self.changes.iter().filter(|change| change.name == name).cloned().collect();
        for change in &mut changes {
            if change.write.is_none() {
                change.revision = None;
            }
        }
        changes
    }

    /// Watches again from a past revision: the answer must equal the recorded events.
    pub(crate) async fn check_replay(&self, client: &Client, random: &mut Random) {
        let Some(last) = self.changes.len().checked_sub(1) else { return };
        let at = random.below(last + 1);
        let from = self.changes[at].revision.expect("an event has a revision");
        let again = Watcher::read_up_to(client, from, self.last()).await;
        assert_eq!(again, self.changes[at + 1..], "the changes after {from}, watched again (left) and then (right)");
    }
}
