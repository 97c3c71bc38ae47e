//! The in-memory engine, for tests and trials.
//!
//! Keeps history within the same limits as the embedded engine: what is too old or too much goes when the store is used
//! next. Holds no lock while the sink runs, so a reader of the store never
//! waits for the cache, and the cache never waits for that reader. A thread deletes expired values; it begins with the
//! first value that has a lifetime. Ages and lifetimes follow the clock of the thread that creates the store.

use std::{
    collections::{BTreeMap, VecDeque},
    future,
    ops::Bound,
    sync::{Arc, Condvar, Mutex, MutexGuard, Once, PoisonError},
    thread,
    time::{Duration, Instant},
};

use bytes::Bytes;

use super::{
    Change, Commit, CommitError, CommitFuture, Delivery, Entry, Expect, Health, Op, Options, ReadError, Sink, Store,
    Value, Visit,
};
use crate::meta::{Revision, time::clock::Clock};

/// A store that is lost when its process ends.
pub struct Memory {
    inner: Arc<Inner>,
    /// Starts the thread that deletes expired values.
    expiry: Once,
}

/// The part of the store that the thread for expired values uses.
struct Inner {
    /// Held for a whole commit, including the sink's run, so that commits are serialized.
    writer: Mutex<Writer>,
    /// The state that readers see. Never locked while the sink runs.
    state: Mutex<State>,
    /// Signals a new deadline, and the end.
    wake: Condvar,
}

#[derive(Default)]
struct Writer {
    sink: Option<Sink>,
    closed: bool,
}

struct State {
    head: Revision,
    compacted: Revision,
    /// The revision before the first change.
    origin: Revision,
    newest: BTreeMap<Arc<str>, Newest>,
    /// The changes after `compacted`, one per revision.
    log: VecDeque<LogEntry>,
    /// The space of the log in bytes.
    log_bytes: u64,
    history_age: Duration,
    history_bytes: u64,
    /// The values that expire.
    deadlines: BTreeMap<(Instant, Revision), Arc<str>>,
    /// The clock of a test.
    clock: Option<Clock>,
    ended: bool,
}

/// The newest value of a key.
struct Newest {
    revision: Revision,
    value: Value,
    /// When it expires.
    deadline: Option<Instant>,
}

/// A change in the log.
struct LogEntry {
    change: Change,
    at: Instant,
}

impl LogEntry {
    /// The space that it takes beside newest values.
    fn bytes(&self) -> u64 {
        (size_of::<Self>() + self.change.key.len() + self.change.previous.size()) as u64
    }
}

impl Memory {
    /// An empty store with the default limits.
    #[must_use]
    pub fn new() -> Self {
        Self::with(&Options::default())
    }

    /// An empty store with limits of history, and the revision before its first change. Other options are about disks and
    /// queues, which it does not have.
    #[must_use]
    pub fn with(options: &Options) -> Self {
        let state = State {
            head: options.origin,
            compacted: Revision(0),
            origin: options.origin,
            newest: BTreeMap::new(),
            log: VecDeque::new(),
            log_bytes: 0,
            history_age: options.history_age,
            history_bytes: options.history_bytes,
            deadlines: BTreeMap::new(),
            clock: Clock::current(),
            ended: false,
        };
        let clock = state.clock.clone();
        let inner = Arc::new(Inner { writer: Mutex::default(), state: Mutex::new(state), wake: Condvar::new() });
        if let Some(clock) = clock {
            let inner = Arc::downgrade(&inner);
            clock.on_advance(move || inner.upgrade().into_iter().for_each(|inner| inner.look_at_clock()));
        }
        Self { inner, expiry: Once::new() }
    }

    /// The state, whose history keeps to its limits.
    fn state(&self) -> MutexGuard<'_, State> {
        let mut state = self.inner.state();
        state.trim();
        state
    }
}

impl Inner {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn writer(&self) -> MutexGuard<'_, Writer> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn commit_now(&self, commit: Commit) -> Result<Vec<Revision>, CommitError> {
        let mut writer = self.writer();
        if writer.closed {
            return Err(CommitError::Closed);
        }
        let changes = self.state().apply(commit)?;
        if let Some(sink) = writer.sink.as_mut().filter(|_| !changes.is_empty()) {
            sink(Delivery::Changes(&changes, changes.last().map_or(Revision(0), |last| last.revision)));
        }
        Ok(changes.iter().map(|change| change.revision).collect())
    }

    /// Deletes each value when it expires, until the store ends.
    fn expire(&self) {
        let mut state = self.state();
        while !state.ended {
            let Some((&(deadline, revision), _)) = state.deadlines.first_key_value() else {
                state = self.wake.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let left = deadline.saturating_duration_since(state.now());
            if !left.is_zero() {
                state = self.wake.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
                continue;
            }
            let Some(key) = state.deadlines.remove(&(deadline, revision)) else { continue };
            drop(state);
            let op = Op { key, value: None, expect: Expect::At(revision), lifetime: None };
            // A conflict means that the value was written again.
            let _ = self.commit_now(vec![op].into());
            state = self.state();
        }
    }

    /// Forgets and deletes what is due on a clock that was moved.
    fn look_at_clock(&self) {
        self.state().trim();
        self.wake.notify_all();
    }

    fn end(&self) {
        self.state().ended = true;
        self.wake.notify_all();
    }
}

impl Default for Memory {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        self.inner.end();
    }
}

impl State {
    fn now(&self) -> Instant {
        self.clock.as_ref().map_or_else(Instant::now, Clock::instant)
    }

    /// Checks every hold and precondition before it applies any operation, so that a failed commit changes nothing.
    fn apply(&mut self, Commit { ops, holds }: Commit) -> Result<Vec<Change>, CommitError> {
        let current = |key: &Arc<str>| self.newest.get(key).map(|newest| newest.revision);
        for (index, hold) in holds.iter().enumerate() {
            let current = current(&hold.key);
            if current != hold.revision {
                return Err(CommitError::Unmet { index, current });
            }
        }
        for (index, op) in ops.iter().enumerate() {
            let current = current(&op.key);
            if !op.expect.holds(current, op.value.is_none()) {
                return Err(CommitError::Conflict { index, current });
            }
        }
        let now = self.now();
        let changes = ops.into_iter().map(|op| self.apply_one(op, now)).collect();
        self.trim();
        Ok(changes)
    }

    fn apply_one(&mut self, op: Op, now: Instant) -> Change {
        let revision = self.head.next();
        self.head = revision;
        // A lifetime beyond what the clock can count never ends.
        let deadline = op.lifetime.filter(|_| op.value.is_some()).and_then(|lifetime| now.checked_add(lifetime));
        self.deadlines.extend(deadline.map(|deadline| ((deadline, revision), Arc::clone(&op.key))));
        // The given bytes may be a part of a larger buffer, which history would keep.
        let value = op.value.map(|value| Bytes::copy_from_slice(&value));
        let replaced = match &value {
            Some(value) => {
                self.newest.insert(Arc::clone(&op.key), Newest { revision, value: Ok(value.clone()), deadline })
            }
            None => self.newest.remove(&op.key),
        };
        let previous = replaced.map(|Newest { revision, value, deadline }| {
            if let Some(deadline) = deadline {
                self.deadlines.remove(&(deadline, revision));
            }
            (revision, value)
        });
        let change = Change { revision, key: op.key, value, previous: previous.into() };
        let entry = LogEntry { change: change.clone(), at: now };
        self.log_bytes += entry.bytes();
        self.log.push_back(entry);
        change
    }

    /// Removes the oldest changes until history is within its limits.
    fn trim(&mut self) {
        let now = self.now();
        while let Some(oldest) = self.log.front()
            && (self.log_bytes > self.history_bytes || now.saturating_duration_since(oldest.at) >= self.history_age)
        {
            self.forget_oldest();
        }
    }

    fn forget_oldest(&mut self) {
        if let Some(oldest) = self.log.pop_front() {
            self.log_bytes -= oldest.bytes();
            self.compacted = oldest.change.revision;
        }
    }

    /// The position in the log of the first change after a revision.
    fn position(&self, after: Revision) -> usize {
        usize::try_from(after.0.saturating_sub(self.compacted.max(self.origin).0))
            .unwrap_or(usize::MAX)
            .min(self.log.len())
    }
}

fn entry(key: &Arc<str>, revision: Revision, value: &Value) -> Entry {
    Entry { key: Arc::clone(key), value: value.clone(), revision }
}

impl Store for Memory {
    fn attach(&self, sink: Sink) {
        self.inner.writer().sink = Some(sink);
    }

    fn commit(&self, commit: Commit) -> CommitFuture<'_> {
        let expires = commit.ops.iter().any(|op| op.lifetime.is_some());
        let answer = self.inner.commit_now(commit);
        if expires {
            self.expiry.call_once(|| {
                let inner = Arc::clone(&self.inner);
                thread::spawn(move || inner.expire());
            });
            self.inner.wake.notify_all();
        }
        Box::pin(future::ready(answer))
    }

    fn get(&self, key: &str) -> Result<Option<Entry>, ReadError> {
        let state = self.state();
        Ok(state.newest.get_key_value(key).map(|(key, newest)| entry(key, newest.revision, &newest.value)))
    }

    fn range(&self, prefix: &str) -> Result<(Vec<Entry>, Revision), ReadError> {
        let state = self.state();
        let found = state.newest.range::<str, _>((Bound::Included(prefix), Bound::Unbounded));
        let found = found.take_while(|(key, _)| key.starts_with(prefix));
        let entries = found.map(|(key, newest)| entry(key, newest.revision, &newest.value)).collect();
        Ok((entries, state.head))
    }

    fn scan(&self, prefixes: &[&str], visit: Visit<'_>) -> Result<Revision, ReadError> {
        let (entries, head) = {
            let state = self.state();
            let has_prefix = |key: &str| prefixes.iter().any(|prefix| key.starts_with(prefix));
            let found = state.newest.iter().filter(|(key, _)| has_prefix(key));
            let found = found.map(|(key, newest)| entry(key, newest.revision, &newest.value));
            (found.enumerate().collect(), state.head)
        };
        visit(entries);
        Ok(head)
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
        Ok(state.log.range(state.position(after)..).take(limit).map(|entry| entry.change.clone()).collect())
    }

    fn compact(&self, upto: Revision) -> Result<(), ReadError> {
        let mut state = self.state();
        while state.log.front().is_some_and(|oldest| oldest.change.revision <= upto) {
            state.forget_oldest();
        }
        Ok(())
    }

    fn health(&self) -> Health {
        Health::default()
    }

    fn close(&self) {
        self.inner.end();
        let mut writer = self.inner.writer();
        writer.closed = true;
        writer.sink = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suite::commit;

    /// `MEMORY_UPDATES=1000000` makes a million.
    #[test]
    fn updates_without_end_keep_within_the_limits() {
        let count: u64 = std::env::var("MEMORY_UPDATES").ok().and_then(|count| count.parse().ok()).unwrap_or(20_000);
        let options = Options { history_bytes: 4 << 20, history_age: Duration::from_hours(1), ..Options::default() };
        let store = Memory::with(&options);
        for number in 0..count {
            let value = Some(Bytes::from(vec![b'x'; 1_000]));
            let lifetime = (number % 2 == 0).then_some(Duration::from_hours(1));
            let key = format!("/registry/things/{}", number % 100).into();
            commit(&store, vec![Op { key, value, expect: Expect::Any, lifetime }]).unwrap();
        }
        let state = store.state();
        assert!(state.log_bytes <= options.history_bytes);
        assert_eq!(state.log_bytes, state.log.iter().map(LogEntry::bytes).sum::<u64>());
        assert!(state.log_bytes > options.history_bytes / 2, "no more is forgotten than must be");
        assert_eq!((state.newest.len(), state.deadlines.len()), (100, 50), "replaced values do not expire");
        assert_eq!((state.head, state.compacted), (Revision(count), Revision(count - state.log.len() as u64)));
    }
}
