//! The engine for tests and trials: everything in this process, nothing on disk.
//! Keeps its whole history until told to compact. Holds no lock while the sink runs, so that a reader of the store can
//! never wait for the cache and the cache for that reader.

use std::{
    collections::{BTreeMap, VecDeque},
    future,
    ops::Bound,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use bytes::Bytes;

use super::{Change, CommitError, CommitFuture, Entry, Op, ReadError, Sink, Store, past::Past};
use crate::meta::Revision;

/// A store that lives and dies with its process.
#[derive(Default)]
pub struct Memory {
    /// Held through a whole commit, the sink's run included: commits happen one after the other.
    writer: Mutex<Writer>,
    /// What readers see; never held while the sink runs.
    state: Mutex<State>,
}

#[derive(Default)]
struct Writer {
    sink: Option<Sink>,
    closed: bool,
}

#[derive(Default)]
struct State {
    head: Revision,
    compacted: Revision,
    newest: BTreeMap<Arc<str>, (Revision, Bytes)>,
    /// Changes after `compacted`, one a revision.
    log: VecDeque<Change>,
}

impl Memory {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn writer(&self) -> MutexGuard<'_, Writer> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn commit_now(&self, ops: Vec<Op>) -> Result<Vec<Revision>, CommitError> {
        let mut writer = self.writer();
        if writer.closed {
            return Err(CommitError::Closed);
        }
        let changes = self.state().apply(ops)?;
        if let Some(sink) = writer.sink.as_mut().filter(|_| !changes.is_empty()) {
            sink(&changes);
        }
        Ok(changes.iter().map(|change| change.revision).collect())
    }
}

impl State {
    /// Judges every operation first, then applies them all, so that a conflict leaves no trace.
    fn apply(&mut self, ops: Vec<Op>) -> Result<Vec<Change>, CommitError> {
        for (index, op) in ops.iter().enumerate() {
            let current = self.newest.get(&op.key).map(|(revision, _)| *revision);
            if !op.expect.holds(current, op.value.is_none()) {
                return Err(CommitError::Conflict { index, current });
            }
        }
        Ok(ops.into_iter().map(|op| self.apply_one(op)).collect())
    }

    fn apply_one(&mut self, op: Op) -> Change {
        let revision = self.head.next();
        self.head = revision;
        let previous = match &op.value {
            Some(value) => self.newest.insert(Arc::clone(&op.key), (revision, value.clone())),
            None => self.newest.remove(&op.key),
        };
        let change = Change { revision, key: op.key, value: op.value, previous };
        self.log.push_back(change.clone());
        change
    }

    fn range(&self, prefix: &str) -> Vec<Entry> {
        self.newest
            .range::<str, _>((Bound::Included(prefix), Bound::Unbounded))
            .take_while(|(key, _)| key.starts_with(prefix))
            .map(|(key, (revision, value))| Entry { key: Arc::clone(key), value: value.clone(), revision: *revision })
            .collect()
    }

    /// Where in the log the first change after a revision lies.
    fn position(&self, after: Revision) -> usize {
        usize::try_from(after.0 - self.compacted.0).unwrap_or(usize::MAX).min(self.log.len())
    }
}

impl Store for Memory {
    fn attach(&self, sink: Sink) {
        self.writer().sink = Some(sink);
    }

    fn commit(&self, ops: Vec<Op>) -> CommitFuture<'_> {
        Box::pin(future::ready(self.commit_now(ops)))
    }

    fn get(&self, key: &str) -> Result<Option<Entry>, ReadError> {
        let state = self.state();
        let found = state.newest.get_key_value(key);
        Ok(found.map(|(key, (revision, value))| Entry {
            key: Arc::clone(key),
            value: value.clone(),
            revision: *revision,
        }))
    }

    fn range(&self, prefix: &str, at: Option<Revision>) -> Result<(Vec<Entry>, Revision), ReadError> {
        let state = self.state();
        let at = at.unwrap_or(state.head);
        if at < state.compacted {
            return Err(ReadError::Compacted(state.compacted));
        }
        if at > state.head {
            return Err(ReadError::Future(state.head));
        }
        let mut past = Past::new(prefix, state.range(prefix));
        for change in state.log.range(state.position(at)..).rev() {
            past.undo(change.clone());
        }
        Ok((past.finish(), at))
    }

    fn head(&self) -> Revision {
        self.state().head
    }

    fn compacted(&self) -> Revision {
        self.state().compacted
    }

    fn changes(&self, after: Revision, limit: usize) -> Result<Vec<Change>, ReadError> {
        let state = self.state();
        if after < state.compacted {
            return Err(ReadError::Compacted(state.compacted));
        }
        Ok(state.log.range(state.position(after)..).take(limit).cloned().collect())
    }

    fn compact(&self, upto: Revision) -> Result<(), ReadError> {
        let mut state = self.state();
        let upto = upto.min(state.head);
        if upto > state.compacted {
            let gone = state.position(upto);
            state.log.drain(..gone);
            state.compacted = upto;
        }
        Ok(())
    }

    fn close(&self) {
        self.writer().closed = true;
    }
}
