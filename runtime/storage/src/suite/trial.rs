//! A store on trial: commits whose revisions are checked, and what it holds.

use std::sync::{Arc, Mutex};

use bytes::Bytes;

use super::{conflict, put};
use crate::{Change, Commit, CommitError, Delivery, Expect, Op, Store, meta::Revision};

/// How an engine gives revisions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Revisions {
    /// One for each operation, without gaps, and in the order in which commits were queued.
    Dense,
    /// One for each commit, in the order in which the store gets them. Some belong to no commit.
    Shared,
}

impl Revisions {
    /// Checks the revisions of a commit whose predecessor has another one.
    pub(crate) fn check(self, before: Revision, given: &[Revision]) {
        match self {
            Self::Dense => {
                let expected = (1..).map(|more| Revision(before.0 + more)).take(given.len());
                assert!(given.iter().copied().eq(expected), "{given:?} after {before}");
            }
            Self::Shared => {
                assert!(given.iter().all(|each| *each > before && *each == given[0]), "{given:?} after {before}");
            }
        }
    }
}

/// An empty store on trial.
pub(super) struct Trial<S> {
    pub(super) store: S,
    pub(super) revisions: Revisions,
    /// The revision before the first commit.
    pub(super) origin: Revision,
}

impl<S: Store> Trial<S> {
    pub(super) fn new(store: S, revisions: Revisions) -> Self {
        let origin = store.head();
        assert!(revisions == Revisions::Shared || origin == Revision(0), "an empty store begins at zero");
        Self { store, revisions, origin }
    }

    pub(super) fn commit(&self, commit: impl Into<Commit>) -> Result<Vec<Revision>, CommitError> {
        let before = self.store.head();
        let result = super::commit(&self.store, commit);
        if let Ok(given) = &result {
            self.revisions.check(before, given);
        }
        assert_eq!(self.store.head(), result.iter().flatten().last().copied().unwrap_or(before));
        result
    }

    /// Commits operations that succeed. The result is the revision of each.
    pub(super) fn write(&self, ops: Vec<Op>) -> Vec<Revision> {
        let count = ops.len();
        let given = self.commit(ops).expect("a commit");
        assert_eq!(given.len(), count);
        given
    }

    /// Writes a key, whatever it has.
    pub(super) fn put(&self, key: &str, value: &str) -> Revision {
        self.write(vec![put(key, value, Expect::Any)])[0]
    }

    pub(super) fn conflict(&self, op: Op) -> (usize, Option<Revision>) {
        conflict(self.commit(vec![op]))
    }

    /// Queues commits all at once, and returns the answers. Where their order is open, each waits for the one before.
    pub(super) fn queue(&self, commits: Vec<Commit>) -> Vec<Result<Vec<Revision>, CommitError>> {
        if self.revisions == Revisions::Shared {
            return commits.into_iter().map(|commit| self.commit(commit)).collect();
        }
        let queued: Vec<_> = commits.into_iter().map(|commit| self.store.commit(commit)).collect();
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        queued.into_iter().map(|queued| runtime.block_on(queued)).collect()
    }

    pub(super) fn values(&self, prefix: &str) -> Vec<(String, String, Revision)> {
        let (entries, at) = self.store.range(prefix).expect("a range");
        assert_eq!(at, self.store.head());
        let text = |value: &Bytes| String::from_utf8(value.to_vec()).expect("text");
        entries.iter().map(|e| (e.key.to_string(), text(e.value.as_ref().expect("whole")), e.revision)).collect()
    }

    pub(super) fn changes(&self) -> Vec<Change> {
        self.store.changes(self.origin, 100).expect("changes")
    }

    pub(super) fn seen(&self) -> Arc<Mutex<Vec<Change>>> {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let into = Arc::clone(&seen);
        self.store.attach(Box::new(move |given: Delivery<'_>| into.lock().unwrap().extend_from_slice(given.changes())));
        seen
    }
}

pub(super) fn value(key: &str, value: &str, revision: Revision) -> (String, String, Revision) {
    (key.to_owned(), value.to_owned(), revision)
}
