//! Where clients and watchers record what they do, and which requests a server failed.
use std::{
    collections::BTreeSet,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use crate::history::{History, Operation, Outcome, Seen, Step, Time, Version, Watcher};

/// A request as its server answered it: whether the server did its work, whatever the answer says.
#[derive(Clone, Debug)]
pub(crate) struct Answered {
    pub(crate) server: usize,
    pub(crate) end: Time,
    /// Why not.
    pub(crate) failure: Option<String>,
}

#[derive(Default)]
struct Records {
    history: History,
    answers: Vec<Answered>,
}

/// The records of one round.
pub(crate) struct Recorder {
    begin: Instant,
    records: Mutex<Records>,
}

impl Recorder {
    pub(crate) fn new() -> Self {
        Self { begin: Instant::now(), records: Mutex::default() }
    }

    pub(crate) fn now(&self) -> Time {
        Time::try_from(self.begin.elapsed().as_nanos()).unwrap_or(Time::MAX)
    }

    fn records(&self) -> MutexGuard<'_, Records> {
        self.records.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn operation(&self, operation: Operation) {
        self.records().history.operations.push(operation);
    }

    /// Notes whether a server did its work.
    pub(crate) fn answered(&self, server: usize, failure: Option<String>) {
        let end = self.now();
        self.records().answers.push(Answered { server, end, failure });
    }

    pub(crate) fn step(&self, watcher: usize, server: usize, seen: Seen) {
        let time = self.now();
        self.change(watcher, |watcher| watcher.steps.push(Step { time, server, seen }));
    }

    /// Notes which object a watcher selects.
    pub(crate) fn selects(&self, watcher: usize, object: &str) {
        self.change(watcher, |watcher| watcher.selects = Some(object.to_owned()));
    }

    fn change(&self, number: usize, change: impl FnOnce(&mut Watcher)) {
        let watchers = &mut self.records().history.watchers;
        if watchers.len() <= number {
            watchers.resize(number + 1, Watcher::default());
        }
        change(&mut watchers[number]);
    }

    pub(crate) fn answers(&self) -> Vec<Answered> {
        self.records().answers.clone()
    }

    /// True if each of these servers has done its work for a while.
    pub(crate) fn is_calm(&self, servers: &[usize], since: Time) -> bool {
        let (now, records) = (self.now(), self.records());
        let recent =
            records.answers.iter().rev().take_while(|answer| answer.end + 500_000_000 > now && answer.end > since);
        let (mut good, mut bad) = (BTreeSet::new(), BTreeSet::new());
        for answer in recent {
            if answer.failure.is_none() {
                good.insert(answer.server)
            } else {
                bad.insert(answer.server)
            };
        }
        now > since + 500_000_000 && servers.iter().all(|server| good.contains(server) && !bad.contains(server))
    }

    /// True if this many watchers have every change that anyone saw.
    pub(crate) fn watchers_have_all(&self, count: usize) -> bool {
        let history = &self.records().history;
        let is_there = |watcher: &&Watcher| position(watcher) >= newest(history, watcher);
        history.watchers.iter().filter(is_there).count() >= count
    }

    pub(crate) fn take(&self) -> History {
        std::mem::take(&mut self.records().history)
    }
}

/// The newest version of what a watcher selects that anyone saw.
fn newest(history: &History, watcher: &Watcher) -> Version {
    let answered = history.operations.iter().filter_map(|operation| match operation.outcome {
        Outcome::Written { version } | Outcome::Found { version, .. } => Some((operation.call.object()?, version)),
        _ => None,
    });
    let seen = history.watchers.iter().flat_map(|other| &other.steps).filter_map(|step| step.seen.change());
    let changes = answered.chain(seen).filter(|(object, _)| watcher.covers(object));
    changes.map(|(_, version)| version).max().unwrap_or(0)
}

fn position(watcher: &Watcher) -> Version {
    let positions = watcher.steps.iter().rev().find_map(|step| match step.seen {
        Seen::Listed { version, .. }
        | Seen::Added { version, .. }
        | Seen::Modified { version, .. }
        | Seen::Deleted { version, .. }
        | Seen::Bookmark { version } => Some(version),
        Seen::Resumed | Seen::Expired => None,
    });
    positions.unwrap_or(0)
}
