//! The work: each uid once, tried again after a wait that grows while it fails.
use std::{
    collections::{BTreeMap, HashMap, HashSet, VecDeque},
    time::Duration,
};

use tokio::time::Instant;

use super::facts::Uid;

/// The first wait after a failure; each further one is twice as long.
const FIRST_WAIT: Duration = Duration::from_millis(20);
/// The longest wait.
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// What is to be looked at.
#[derive(Default)]
pub(super) struct Queue {
    ready: VecDeque<Uid>,
    queued: HashSet<Uid>,
    /// Those that wait, by when they are due; the number tells those of one moment apart.
    waiting: BTreeMap<(Instant, u64), Uid>,
    waits: u64,
    /// Those that are worked on, and whether they are to be looked at again after that.
    running: HashMap<Uid, bool>,
    failures: HashMap<Uid, u32>,
}

impl Queue {
    /// Has something looked at; after what is being done about it, if anything is.
    pub fn push(&mut self, uid: Uid) {
        if let Some(again) = self.running.get_mut(&uid) {
            *again = true;
        } else if self.queued.insert(uid.clone()) {
            self.ready.push_back(uid);
        }
    }

    /// Has each of these looked at.
    pub fn push_all(&mut self, uids: impl IntoIterator<Item = Uid>) {
        for uid in uids {
            self.push(uid);
        }
    }

    /// Has something looked at after a while.
    pub fn push_after(&mut self, uid: Uid, wait: Duration) {
        self.waits += 1;
        self.waiting.insert((Instant::now() + wait, self.waits), uid);
    }

    /// The next that is due.
    pub fn pop(&mut self) -> Option<Uid> {
        let now = Instant::now();
        while let Some(entry) = self.waiting.first_entry().filter(|entry| entry.key().0 <= now) {
            let uid = entry.remove();
            self.push(uid);
        }
        let uid = self.ready.pop_front()?;
        self.queued.remove(&uid);
        Some(uid)
    }

    /// When the next is due; `None` where that is not known.
    pub fn next_due(&self) -> Option<Instant> {
        if self.ready.is_empty() { self.waiting.keys().next().map(|(at, _)| *at) } else { Some(Instant::now()) }
    }

    /// Something is being done about it.
    pub fn begin(&mut self, uid: Uid) {
        self.running.insert(uid, false);
    }

    /// It has been done, or could not be: then it is tried again.
    pub fn end(&mut self, uid: Uid, done: bool) {
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

    /// Nothing is to be done about it: what failed before no longer counts.
    pub fn settle(&mut self, uid: &Uid) {
        self.failures.remove(uid);
    }

    /// How much is being done.
    pub fn running(&self) -> usize {
        self.running.len()
    }
}
