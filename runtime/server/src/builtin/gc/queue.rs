//! The work queue: each uid once, with exponential backoff after failures.
use std::{
    collections::{BTreeMap, HashMap, HashSet, VecDeque},
    time::Duration,
};

use tokio::time::Instant;

use super::facts::Uid;

/// The wait after the first failure. Each further wait is twice as long.
const FIRST_WAIT: Duration = Duration::from_millis(20);
/// The longest wait.
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// The objects to examine.
#[derive(Default)]
pub(super) struct Queue {
    ready: VecDeque<Uid>,
    queued: HashSet<Uid>,
    /// Delayed uids by due time; the number distinguishes equal times.
    waiting: BTreeMap<(Instant, u64), Uid>,
    waits: u64,
    /// Uids in progress, and whether to examine them again afterwards.
    running: HashMap<Uid, bool>,
    failures: HashMap<Uid, u32>,
}

impl Queue {
    /// Queues an object; if it is in progress, after that.
    pub(super) fn push(&mut self, uid: Uid) {
        if let Some(again) = self.running.get_mut(&uid) {
            *again = true;
        } else if self.queued.insert(uid.clone()) {
            self.ready.push_back(uid);
        }
    }

    /// Queues several objects.
    pub(super) fn push_all(&mut self, uids: impl IntoIterator<Item = Uid>) {
        for uid in uids {
            self.push(uid);
        }
    }

    /// Queues an object after a delay.
    pub(super) fn push_after(&mut self, uid: Uid, wait: Duration) {
        self.waits += 1;
        self.waiting.insert((Instant::now() + wait, self.waits), uid);
    }

    /// The next object that is due.
    pub(super) fn pop(&mut self) -> Option<Uid> {
        let now = Instant::now();
        while let Some(entry) = self.waiting.first_entry().filter(|entry| entry.key().0 <= now) {
            let uid = entry.remove();
            self.push(uid);
        }
        let uid = self.ready.pop_front()?;
        self.queued.remove(&uid);
        Some(uid)
    }

    /// When the next object is due, if any is delayed.
    pub(super) fn next_due(&self) -> Option<Instant> {
        if self.ready.is_empty() { self.waiting.keys().next().map(|(at, _)| *at) } else { Some(Instant::now()) }
    }

    /// Marks an object as in progress.
    pub(super) fn begin(&mut self, uid: Uid) {
        self.running.insert(uid, false);
    }

    /// Ends the work on an object. If it failed, the object is retried.
    pub(super) fn end(&mut self, uid: Uid, done: bool) {
        let again = self.running.remove(&uid).unwrap_or(false);
        if done {
            self.failures.remove(&uid);
            if again {
                self.push(uid);
            }
            return;
        }
        let failures = self.failures.entry(uid.clone()).or_default();
        let wait = LONGEST_WAIT.min(FIRST_WAIT * 2u32.pow((*failures).min(16)));
        *failures += 1;
        self.push_after(uid, wait);
    }

    /// Resets the backoff of an object that needs no work.
    pub(super) fn settle(&mut self, uid: &Uid) {
        self.failures.remove(uid);
    }

    /// The number of objects in progress.
    pub(super) fn running(&self) -> usize {
        self.running.len()
    }
}
