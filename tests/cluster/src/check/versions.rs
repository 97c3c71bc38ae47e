//! The versions of each object, as all clients together saw them, and reads that are older than that.
use std::{
    collections::{BTreeMap, HashMap},
    fmt::Display,
};

use super::{Rule, Violation};
use crate::history::{Call, History, Items, Operation, Outcome, Seen, Time, Version, seconds};

/// A state of an object that someone saw.
#[derive(Clone, Debug)]
pub(super) struct Known {
    /// `None` after a deletion.
    pub(super) value: Option<String>,
    /// When it was first seen.
    pub(super) seen: Time,
    /// Who saw it first.
    source: String,
}

/// The known states of one object by version.
pub(super) type Track = BTreeMap<Version, Known>;

/// The known states of all objects.
#[derive(Debug, Default)]
pub(super) struct Versions {
    pub(super) objects: BTreeMap<String, Track>,
    /// Objects by version: in one kind of object, each version changes one.
    pub(super) changes: BTreeMap<Version, String>,
    /// The newest version that anyone had seen, by time.
    newest: Vec<(Time, Version)>,
}

impl Versions {
    /// The version in which a value was seen.
    pub(super) fn of_value(&self, object: &str, value: &str) -> Option<(Version, &Known)> {
        let track = self.objects.get(object)?;
        let found = track.iter().find(|(_, known)| known.value.as_deref() == Some(value));
        found.map(|(version, known)| (*version, known))
    }

    /// The state of an object at a version: the newest known one that is not after it.
    pub(super) fn state(&self, object: &str, at: Version) -> Option<(Version, &Known)> {
        self.objects.get(object)?.range(..=at).next_back().map(|(version, known)| (*version, known))
    }

    /// The newest version that anyone had seen before a time.
    pub(super) fn newest_before(&self, time: Time) -> Version {
        let count = self.newest.partition_point(|(seen, _)| *seen < time);
        count.checked_sub(1).map_or(0, |last| self.newest[last].1)
    }
}

/// A write by its value.
struct Write<'a> {
    object: &'a str,
    operation: &'a Operation,
}

struct Gathering<'a> {
    writes: HashMap<&'a str, Write<'a>>,
    /// Values with the version in which they were seen first.
    values: HashMap<String, Version>,
    versions: Versions,
    found: &'a mut Vec<Violation>,
}

impl Gathering<'_> {
    fn object(&mut self, object: &str, version: Version, value: Option<&str>, time: Time, source: &dyn Display) {
        let track = self.versions.objects.entry(object.to_owned()).or_default();
        let new = || Known { value: value.map(str::to_owned), seen: time, source: source.to_string() };
        let known = track.entry(version).or_insert_with(new);
        if known.value.as_deref() != value {
            let message = format!("version {version} of {object} has two states: {:?} and {value:?}", known.value);
            let violation = Violation::new(Rule::OneStatePerVersion, message);
            self.found.push(violation.with(&known.source).with(source));
        }
        if time < known.seen {
            *known = new();
        }
        let other = self.versions.changes.entry(version).or_insert_with(|| object.to_owned());
        if other != object {
            let message = format!("{object} and {other} both have version {version}");
            self.found.push(Violation::new(Rule::OneStatePerVersion, message).with(source));
        }
        self.versions.newest.push((time, version));
        if let Some(value) = value {
            self.value(object, version, value, time, source);
        }
    }

    fn value(&mut self, object: &str, version: Version, value: &str, time: Time, source: &dyn Display) {
        let Some(write) = self.writes.get(value).filter(|write| write.object == object) else {
            let message = format!("{object} has the value {value}, which no client wrote there");
            self.found.push(Violation::new(Rule::ValueWasWritten, message).with(source));
            return;
        };
        let first = *self.values.entry(value.to_owned()).or_insert(version);
        if first != version {
            let message = format!("{value} was written once, but is in versions {first} and {version} of {object}");
            let earlier = self.versions.objects[object].get(&first).map_or("", |known| known.source.as_str());
            let violation = Violation::new(Rule::WriteAppliedOnce, message).with(write.operation);
            self.found.push(violation.with(earlier).with(source));
            return;
        }
        let wrong = if write.operation.outcome.failed() {
            "by a request that failed"
        } else if write.operation.start > time {
            "only later"
        } else {
            return;
        };
        let message = format!("{object} has the value {value}, which was written {wrong}");
        self.found.push(Violation::new(Rule::ValueWasWritten, message).with(write.operation).with(source));
    }

    fn items(&mut self, version: Version, items: &Items, time: Time, source: &dyn Display) {
        for (object, (at, value)) in items {
            self.object(object, *at, Some(value), time, source);
        }
        self.versions.newest.push((time, version));
    }

    fn operation(&mut self, operation: &Operation) {
        match (&operation.call, &operation.outcome) {
            (call, Outcome::Written { version }) => {
                if let (Some(object), value @ Some(_)) = (call.object(), call.value()) {
                    self.object(object, *version, value, operation.end, operation);
                }
            }
            (Call::Get { object }, Outcome::Found { version, value }) => {
                self.object(object, *version, Some(value), operation.end, operation);
            }
            (_, Outcome::Listed { version, items }) => self.items(*version, items, operation.end, operation),
            _ => {}
        }
    }

    fn seen(&mut self, watcher: usize, time: Time, seen: &Seen) {
        let source = format!("{} watcher {watcher}: {seen:?}", seconds(time));
        match seen {
            // The list is an operation, too.
            Seen::Listed { .. } | Seen::Resumed | Seen::Expired => {}
            Seen::Added { object, version, value } | Seen::Modified { object, version, value } => {
                self.object(object, *version, Some(value), time, &source);
            }
            Seen::Deleted { object, version, .. } => self.object(object, *version, None, time, &source),
            Seen::Bookmark { version } => self.versions.newest.push((time, *version)),
        }
    }
}

/// Gathers what all clients saw, and reports versions and values that contradict each other.
pub(super) fn gather(history: &History, found: &mut Vec<Violation>) -> Versions {
    let writes = history.operations.iter().filter_map(|operation| {
        let (object, value) = (operation.call.object()?, operation.call.value()?);
        Some((value, Write { object, operation }))
    });
    let (values, versions) = (HashMap::new(), Versions::default());
    let mut gathering = Gathering { writes: writes.collect(), values, versions, found };
    history.operations.iter().for_each(|operation| gathering.operation(operation));
    for (number, watcher) in history.watchers.iter().enumerate() {
        watcher.steps.iter().for_each(|step| gathering.seen(number, step.time, &step.seen));
    }
    let mut versions = gathering.versions;
    versions.newest.sort_unstable();
    let mut newest = 0;
    for (_, version) in &mut versions.newest {
        newest = newest.max(*version);
        *version = newest;
    }
    versions
}

/// Reports consistent reads that are older than what someone saw before they began. `register` would find most of them,
/// too, but not with their cause.
pub(super) fn stale_reads(history: &History, versions: &Versions, found: &mut Vec<Violation>) {
    for operation in &history.operations {
        match (&operation.call, &operation.outcome) {
            (Call::Get { object }, Outcome::Found { version, .. }) => {
                let Some(track) = versions.objects.get(object) else { continue };
                let newer = track.range(version + 1..).find(|(_, known)| known.seen < operation.start);
                if let Some((newer, known)) = newer {
                    let message = format!("a get of {object} found version {version} after {newer} had been seen");
                    found.push(Violation::new(Rule::ReadIsNotStale, message).with(&known.source).with(operation));
                }
            }
            (_, Outcome::Listed { version, .. }) => {
                let newest = versions.newest_before(operation.start);
                if newest > *version {
                    let message = format!("a list is of version {version}, after {newest} had been seen");
                    let cause = versions.changes.get(&newest).and_then(|object| versions.state(object, newest));
                    let source = cause.map_or("", |(_, known)| known.source.as_str());
                    found.push(Violation::new(Rule::ReadIsNotStale, message).with(source).with(operation));
                }
            }
            _ => {}
        }
    }
}
