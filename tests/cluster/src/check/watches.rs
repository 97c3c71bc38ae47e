//! Watchers get every change once and in order, from their list to their end, also where they resume on another server.
use std::ops::Bound::{Excluded, Included};

use super::{Rule, Violation, versions::Versions};
use crate::history::{History, Items, Seen, Step, Version, Watcher, seconds};

/// A watcher's state after its steps.
pub(super) struct Replayed {
    /// Everything up to this version was received.
    pub(super) position: Version,
    pub(super) state: Items,
    /// Pieces without a list in between: the version of the list, the versions of the events, the last position.
    pub(super) pieces: Vec<(Version, Vec<Version>, Version)>,
}

fn violation(rule: Rule, number: usize, step: &Step, last: Option<&Step>, message: &str) -> Violation {
    let violation = Violation::new(rule, format!("watcher {number}: {message}"));
    let line = |step: &Step| format!("{} server {}: {:?}", seconds(step.time), step.server, step.seen);
    let violation = last.into_iter().fold(violation, |violation, last| violation.with(line(last)));
    violation.with(line(step))
}

/// Applies the events to the state of the lists, and reports events out of order or unfit for the state.
pub(super) fn replay(number: usize, watcher: &Watcher, found: &mut Vec<Violation>) -> Replayed {
    let mut replayed = Replayed { position: 0, state: Items::new(), pieces: Vec::new() };
    let mut last = None;
    for step in &watcher.steps {
        let position = replayed.position;
        let (object, version, value) = match &step.seen {
            Seen::Listed { version, items } => {
                if *version < position {
                    let message = format!("a list of version {version} follows version {position}");
                    found.push(violation(Rule::WatchIsInOrder, number, step, last, &message));
                }
                replayed.pieces.push((*version, Vec::new(), *version));
                replayed.position = *version;
                replayed.state.clone_from(items);
                last = Some(step);
                continue;
            }
            Seen::Resumed | Seen::Expired => continue,
            Seen::Bookmark { version } => (None, *version, None),
            Seen::Added { object, version, value } | Seen::Modified { object, version, value } => {
                (Some(object), *version, Some(value))
            }
            Seen::Deleted { object, version, .. } => (Some(object), *version, None),
        };
        // A bookmark may repeat the position; an event is a new version.
        if version < position || version == position && object.is_some() {
            let message = format!("version {version} after {position}");
            found.push(violation(Rule::WatchIsInOrder, number, step, last, &message));
        }
        if let Some(object) = object {
            let before = replayed.state.get(object);
            let fits = match &step.seen {
                Seen::Added { .. } => before.is_none(),
                Seen::Deleted { value, .. } => before.is_some_and(|(_, last)| last == value),
                _ => before.is_some(),
            };
            if !fits {
                let message = format!("the event does not fit the state before, {before:?}");
                found.push(violation(Rule::EventFitsState, number, step, last, &message));
            }
            match value {
                Some(value) => drop(replayed.state.insert(object.clone(), (version, value.clone()))),
                None => drop(replayed.state.remove(object)),
            }
        }
        if let Some((_, events, until)) = replayed.pieces.last_mut() {
            events.extend(object.map(|_| version));
            *until = version.max(*until);
        }
        replayed.position = version.max(position);
        last = Some(step);
    }
    replayed
}

pub(super) fn check(history: &History, versions: &Versions, found: &mut Vec<Violation>) {
    for (number, watcher) in history.watchers.iter().enumerate() {
        let replayed = replay(number, watcher, found);
        for (from, events, until) in replayed.pieces {
            let missing: Vec<_> = versions
                .changes
                .range((Excluded(from), Included(until)))
                .filter(|(v, object)| watcher.covers(object) && !events.contains(v))
                .collect();
            if let Some((first, object)) = missing.first() {
                let count = missing.len();
                let message = format!(
                    "watcher {number} received changes from {from} to {until}, but not version {first} of {object} ({count} missing)"
                );
                found.push(Violation::new(Rule::WatchIsComplete, message));
            }
        }
    }
}
