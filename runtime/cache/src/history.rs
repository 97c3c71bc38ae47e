//! Fills the windows of past changes from the store's log: one pass for all resources that have not been filled yet.
//!
//! The pass goes forward in bounded pieces and keeps what the budget has room for: of each change its key, and the value
//! that it replaced. Then it goes back from the state at each window's floor: the object after a change is known there,
//! so that only replaced values are rendered, each once.

use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    sync::{
        Arc, Mutex, Weak,
        atomic::{AtomicBool, Ordering},
    },
};

use bytes::Bytes;
use tokio::sync::Semaphore;

use super::{
    DecodedValue, EventType, Object, Resource,
    change::{self, Change},
    feeder::{longest_prefix, route},
    resource::{blocking, undone},
    state::{SharedState, lock},
    tree::Tree,
    window::Chunk,
};
use crate::{
    meta::Revision,
    storage::{self, Previous, ReadError, ValueCache},
};

/// The target size of a piece of the log in bytes of values.
const PIECE_BYTES: usize = 1 << 20;
/// The minimum number of changes in one read.
const MIN_CHANGES: usize = 16;
/// The maximum number of changes in one read.
const MAX_CHANGES: usize = 2048;

/// The maximum number of passes at a time for resources whose readers wait for other servers.
const MOST_WAITING: usize = 4;

/// The resources whose windows are still to be filled, by id. They stay here during a pass.
#[derive(Default)]
pub(super) struct BackfillQueue {
    /// Each with the number of times that its window began anew: what a pass fills is the window that it has seen.
    resources: Mutex<BTreeMap<u64, (Weak<Resource>, u64)>>,
    /// Locked during a pass.
    passing: Arc<tokio::sync::Mutex<()>>,
    /// The turns of passes for resources whose readers wait for other servers. Each has a pass of its own, with the memory of one.
    waiting: Turns,
    closed: AtomicBool,
}

/// Turns of passes.
struct Turns(Arc<Semaphore>);

impl Default for Turns {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(MOST_WAITING)))
    }
}

impl BackfillQueue {
    pub(super) fn add(&self, resource: &Arc<Resource>) {
        let mut all = lock(&self.resources);
        let times = all.get(&resource.slot.id).map_or(0, |(_, times)| times + 1);
        all.insert(resource.slot.id, (Arc::downgrade(resource), times));
    }

    /// Removes what a pass has filled, unless the window began anew meanwhile.
    fn filled(&self, resource: &Resource, times: u64) {
        let mut all = lock(&self.resources);
        if all.get(&resource.slot.id).is_some_and(|(_, now)| *now == times) {
            all.remove(&resource.slot.id);
        }
    }

    pub(super) fn remove(&self, id: u64) {
        lock(&self.resources).remove(&id);
    }

    /// Ends a pass that is under way.
    pub(super) fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
    }

    pub(super) fn has(&self, id: u64) -> bool {
        lock(&self.resources).contains_key(&id)
    }

    /// The resources that one pass fills: all local ones, or the wanted one if its reader waits for other servers.
    fn of_pass(&self, wanted: Option<&Resource>) -> Vec<(Arc<Resource>, u64)> {
        let alone = wanted.filter(|wanted| !wanted.reader.is_local());
        let is_part = |(one, _): &(Arc<Resource>, u64)| match alone {
            Some(alone) => one.slot.id == alone.slot.id,
            None => one.reader.is_local(),
        };
        self.all().into_iter().filter(is_part).collect()
    }

    fn all(&self) -> Vec<(Arc<Resource>, u64)> {
        lock(&self.resources).values().filter_map(|(one, times)| Some((one.upgrade()?, *times))).collect()
    }

    fn check_open(&self) -> Result<(), ReadError> {
        let closed = || ReadError::Engine("the server is stopping".to_owned());
        if self.closed.load(Ordering::Relaxed) { Err(closed()) } else { Ok(()) }
    }
}

/// Fills the windows of all resources that have not been filled yet.
pub(super) async fn fill_all(shared: &Arc<SharedState>) -> Result<(), ReadError> {
    fill_with(shared, None).await?;
    for (resource, _) in shared.backfill_queue.all() {
        fill_with(shared, Some(&resource)).await?;
    }
    Ok(())
}

/// Fills the window of a resource, unless it is filled, and those of others. Waits for a pass that is under way.
pub(super) async fn fill(shared: &Arc<SharedState>, wanted: &Resource) -> Result<(), ReadError> {
    fill_with(shared, Some(wanted)).await
}

async fn fill_with(shared: &Arc<SharedState>, wanted: Option<&Resource>) -> Result<(), ReadError> {
    let queue = &shared.backfill_queue;
    let alone = wanted.filter(|wanted| !wanted.reader.is_local());
    let passing = Arc::clone(alone.map_or(&queue.passing, |alone| &alone.filling)).lock_owned().await;
    if wanted.is_some_and(|wanted| !queue.has(wanted.slot.id)) {
        return Ok(());
    }
    let mut turn = None;
    if alone.is_some() {
        turn = Some(Arc::clone(&queue.waiting.0).acquire_owned().await.expect("the semaphore is never closed"));
    }
    let resources = queue.of_pass(wanted);
    let shared = Arc::clone(shared);
    // The pass holds the lock, because it goes on if the caller is dropped.
    blocking(move || {
        let _held = (passing, turn);
        Pass::of(&shared, &resources).and_then(Pass::finish)?;
        for (resource, times) in &resources {
            shared.backfill_queue.filled(resource, *times);
        }
        Ok(())
    })
    .await
}

/// A pass over the log, and what it has found.
struct Pass<'a> {
    shared: &'a SharedState,
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

/// A window to fill.
struct Target<'a> {
    resource: &'a Arc<Resource>,
    /// The window's floor, up to which the pass reads.
    floor: Revision,
    /// The state at the floor.
    tree: Tree,
    /// The objects in it that the log wrote, by revision: most changes are found here without a search for their key.
    written: Vec<(Revision, Arc<Object>)>,
    /// The last change that was too much for the budget.
    dropped: Revision,
}

/// A change as the log has it.
struct Past {
    revision: Revision,
    key: Arc<str>,
    deletes: bool,
    previous: Previous,
}

impl<'a> Pass<'a> {
    /// Reads the log.
    fn of(shared: &'a SharedState, resources: &'a [(Arc<Resource>, u64)]) -> Result<Self, ReadError> {
        let base = shared.store.compacted();
        let targets: Vec<_> = resources.iter().map(|(resource, _)| Target::new(resource, base)).collect();
        let mut routes = BTreeMap::<_, Vec<_>>::new();
        for (number, target) in targets.iter().enumerate() {
            routes.entry(Arc::clone(&target.resource.prefix)).or_default().push(number);
        }
        let (found, seen) = (VecDeque::new(), HashMap::new());
        let mut pass = Self { shared, targets, routes, found, bytes: 0, seen, seen_bytes: 0, base };
        let end = pass.targets.iter().map(|target| target.floor).max().unwrap_or(base);
        let (mut position, mut count) = (base, 128);
        while position < end {
            shared.backfill_queue.check_open()?;
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
            && self.seen_bytes + value.len() <= self.shared.budget.limit_bytes()
        {
            self.seen_bytes += value.len();
            self.seen.insert(change.key, (change.revision, value));
        }
        while self.bytes > self.shared.budget.limit_bytes() {
            let Some((number, past)) = self.found.pop_front() else { return };
            self.bytes -= past.size();
            self.targets[number].dropped = past.revision;
        }
    }

    /// Renders what was found, and adds it to the windows.
    fn finish(self) -> Result<(), ReadError> {
        let Self { shared, targets, found, base, .. } = self;
        let mut of_target: Vec<Vec<Past>> = targets.iter().map(|_| Vec::new()).collect();
        for (number, past) in found {
            of_target[number].push(past);
        }
        for (target, past) in targets.iter().zip(of_target) {
            shared.backfill_queue.check_open()?;
            let (changes, after) = target.render(&past);
            let chunks = Chunk::of_all(changes);
            let mut order = shared.budget.order();
            let mut feed = lock(&target.resource.feed);
            feed.prepend(chunks, after.max(base).max(target.dropped), target.floor);
            order.place(target.resource.slot.id, &target.resource.feed, &mut feed);
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

impl<'a> Target<'a> {
    /// The window of a resource, if the log begins after a revision.
    fn new(resource: &'a Arc<Resource>, base: Revision) -> Self {
        let (tree, window) = {
            let feed = lock(&resource.feed);
            (feed.tree.clone(), feed.window())
        };
        let floor = window.floor();
        let tree = undone(tree, &window, floor);
        let objects = tree.slice(0, tree.len()).map(|object| (object.revision(), object));
        let mut written: Vec<_> =
            objects.filter(|(at, _)| *at > base).map(|(at, object)| (at, Arc::clone(object))).collect();
        written.sort_unstable_by_key(|(at, _)| *at);
        Self { resource, floor, tree, written, dropped: Revision(0) }
    }

    /// The object that a change wrote, unless a later change has replaced it.
    fn newest(&self, revision: Revision) -> Option<&Arc<Object>> {
        let found = self.written.binary_search_by_key(&revision, |(at, _)| *at);
        found.ok().map(|position| &self.written[position].1)
    }

    /// Renders changes from the newest to the oldest. Returns them in order, and the revision after which they are
    /// complete: zero, or that of a change which replaced a value that cannot be read.
    fn render(&self, past: &[Past]) -> (Vec<Arc<Change>>, Revision) {
        let mut older: HashMap<&str, Option<Arc<Object>>> = HashMap::new();
        let (mut changes, mut floor) = (Vec::with_capacity(past.len()), Revision(0));
        let values = past.iter().filter_map(|change| match &change.previous {
            Previous::Value(_, Ok(value)) => Some((&*change.key, value)),
            Previous::Value(_, Err(_)) | Previous::Absent | Previous::Unread => None,
        });
        let mut read = self.resource.reader.read_all(&values.collect::<Vec<_>>());
        for change in past.iter().rev() {
            let key = self.resource.below(&change.key);
            let written = || self.newest(change.revision).filter(|object| object.key() == key);
            let newest = || written().or_else(|| self.tree.get(key));
            let new = older.get(key).cloned().unwrap_or_else(|| newest().cloned());
            let is_known = new.as_ref().map(|new| new.revision()) == (!change.deletes).then_some(change.revision);
            let old = match &change.previous {
                _ if !is_known => Err(()),
                Previous::Absent => Ok(None),
                Previous::Value(revision, Ok(_)) => {
                    Ok(read.pop().map(|decoded| self.old(past, key, *revision, decoded)))
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
        Arc::new(Object::compose_as(natural, key, revision, self.resource.reader.type_meta(), decoded))
    }
}

impl Past {
    fn size(&self) -> usize {
        change::OVERHEAD + self.previous.size()
    }
}

fn size(change: &storage::Change) -> usize {
    change.key.len() + change.value.as_ref().map_or(0, Bytes::len) + change.previous.size()
}
