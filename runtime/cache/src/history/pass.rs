//! A pass over the store's log.
//!
//! It goes forward in bounded pieces and keeps what the budget has room for: of each change its key, and the value that it
//! replaced. Then the changes of each window are rendered.

use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use bytes::Bytes;

use super::target::{Past, Target};
use crate::{
    lock::lock,
    meta::Revision,
    replica::Replica,
    routes::{longest_prefix, route},
    state::SharedState,
    storage::{self, ReadError, ValueCache},
    window::Chunk,
};

/// The target size of a piece of the log in bytes of values.
const PIECE_BYTES: usize = 1 << 20;
/// The minimum number of changes in one read.
const MIN_CHANGES: usize = 16;
/// The maximum number of changes in one read.
const MAX_CHANGES: usize = 2048;

/// A pass over the log, and what it has found.
pub(super) struct Pass<'a> {
    shared: &'a SharedState,
    closed: &'a AtomicBool,
    targets: Vec<Target<'a>>,
    /// Positions in `targets` by the prefix of keys. A resource and the one that replaces it have the same prefix.
    routes: BTreeMap<Arc<str>, Vec<usize>>,
    /// The newest changes that fit into the budget, each with its target.
    found: VecDeque<(usize, Past)>,
    bytes: usize,
    /// Values that are replaced later in the log, by key: the engine need not read them again.
    seen: HashMap<Arc<str>, (Revision, Bytes)>,
    seen_bytes: usize,
    /// Everything after this revision was found, unless it was too much for the budget.
    base: Revision,
}

impl<'a> Pass<'a> {
    /// Reads the log.
    pub(super) fn of(
        shared: &'a SharedState,
        closed: &'a AtomicBool,
        replicas: &'a [Arc<Replica>],
    ) -> Result<Self, ReadError> {
        let base = shared.store.compacted();
        let targets: Vec<_> = replicas.iter().map(|replica| Target::new(replica, base)).collect();
        let mut routes = BTreeMap::<_, Vec<_>>::new();
        for (number, target) in targets.iter().enumerate() {
            routes.entry(Arc::clone(&target.replica.keyspace.prefix)).or_default().push(number);
        }
        let (found, seen) = (VecDeque::new(), HashMap::new());
        let mut pass = Self { shared, closed, targets, routes, found, bytes: 0, seen, seen_bytes: 0, base };
        let end = pass.targets.iter().map(|target| target.floor).max().unwrap_or(base);
        let (mut position, mut count) = (base, 128);
        while position < end {
            check_open(closed)?;
            match shared.store.pass(position, count, &pass) {
                Ok(found) => {
                    let Some(last) = found.last() else { break };
                    position = last.revision;
                    let bytes: usize = found.iter().map(size).sum();
                    let wanted = count * PIECE_BYTES / bytes.max(1);
                    count = wanted.clamp(MIN_CHANGES, (count * 2).min(MAX_CHANGES));
                    for change in found {
                        pass.take(change);
                    }
                }
                // The log was compacted meanwhile.
                Err(ReadError::Compacted(upto)) if upto > position => position = pass.begin_after(upto),
                // A change that cannot be read ends history like one that is gone.
                Err(ReadError::Damaged(_)) => position = pass.begin_after(position.next()),
                Err(error) => return Err(error),
            }
        }
        Ok(pass)
    }

    /// Gives up what lies before a gap in the log, which ends at a revision.
    fn begin_after(&mut self, gap: Revision) -> Revision {
        self.found.clear();
        (self.bytes, self.base) = (0, gap);
        gap
    }

    fn take(&mut self, change: storage::Change) {
        let is_newest = self.is_newest(&change.key, change.revision);
        let Some((_, numbers)) = route(&mut self.routes, &change.key) else { return };
        for &number in numbers.iter().filter(|number| change.revision <= self.targets[**number].floor) {
            let (key, previous) = (Arc::clone(&change.key), change.previous.clone());
            let past = Past { revision: change.revision, key, deletes: change.value.is_none(), previous };
            self.bytes += past.size();
            self.found.push_back((number, past));
        }
        if let Some((_, replaced)) = self.seen.remove(&change.key) {
            self.seen_bytes -= replaced.len();
        }
        if let Some(value) = change.value.filter(|_| !is_newest)
            && self.seen_bytes + value.len() <= self.shared.budget.limit_bytes
        {
            self.seen_bytes += value.len();
            self.seen.insert(change.key, (change.revision, value));
        }
        while self.bytes > self.shared.budget.limit_bytes {
            let Some((number, past)) = self.found.pop_front() else { return };
            self.bytes -= past.size();
            self.targets[number].dropped = past.revision;
        }
    }

    /// Renders what was found, and adds it to the windows.
    pub(super) fn finish(self) -> Result<(), ReadError> {
        let Self { shared, closed, targets, found, base, .. } = self;
        let mut of_target: Vec<Vec<Past>> = targets.iter().map(|_| Vec::new()).collect();
        for (number, past) in found {
            of_target[number].push(past);
        }
        for (target, past) in targets.iter().zip(of_target) {
            check_open(closed)?;
            let replica = target.replica;
            let (changes, after) = target.render(&past);
            let chunks = Chunk::of_all(changes);
            let mut order = lock(&shared.eviction);
            let mut feed = lock(&replica.feed);
            feed.fill(chunks, after.max(base).max(target.dropped), target.floor, target.beginning);
            order.place(replica.slot.id, &replica.feed, &mut feed);
            drop(feed);
            order.evict(&shared.budget);
        }
        Ok(())
    }
}

impl ValueCache for Pass<'_> {
    fn value(&self, key: &str, revision: Revision) -> Option<Bytes> {
        self.seen.get(key).filter(|(at, _)| *at == revision).map(|(_, value)| value.clone())
    }

    fn is_newest(&self, key: &str, revision: Revision) -> bool {
        let numbers = longest_prefix(&self.routes, key).and_then(|prefix| self.routes.get(prefix));
        let first = numbers.and_then(|numbers| numbers.first());
        first.is_some_and(|number| self.targets[*number].newest(revision).is_some())
    }
}

fn check_open(closed: &AtomicBool) -> Result<(), ReadError> {
    let closed = closed.load(Ordering::Relaxed);
    if closed { Err(ReadError::Engine("the server is stopping".to_owned())) } else { Ok(()) }
}

fn size(change: &storage::Change) -> usize {
    change.key.len() + change.value.as_ref().map_or(0, Bytes::len) + change.previous.size()
}
