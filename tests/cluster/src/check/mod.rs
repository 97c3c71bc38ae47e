//! Judges a history. Each object is a register with versions, and its operations must be linearizable; lists, watches and
//! the end of the history are compared with the versions that all clients saw. resourceVersions order the versions, which
//! makes this fast, but they are not trusted: a history in which they contradict time is rejected.
//!
//! Why not an existing checker? Those at hand decide linearizability of one object with a given state machine. They search
//! without the order that versions give, and know neither lists over many objects nor watches, which are most of this.
mod finals;
mod lists;
mod register;
mod shorten;
#[cfg(test)]
mod tests;
mod versions;
mod watches;

use std::fmt;

use crate::history::History;

/// What a history violates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rule {
    /// A version belongs to one state of one object.
    OneStatePerVersion,
    /// A write takes effect at most once.
    WriteAppliedOnce,
    /// What clients see was written, by a write that did not fail and had begun.
    ValueWasWritten,
    /// A consistent read is not older than what anyone saw before it began.
    ReadIsNotStale,
    /// The operations on an object have an order that explains all answers.
    Linearizable,
    /// The search for that order took too long to decide.
    Decidable,
    /// A list is the state at its version.
    ListIsOneState,
    /// Acknowledged writes are in the final state, or something replaced them.
    AcknowledgedIsKept,
    /// A watcher gets each change.
    WatchIsComplete,
    /// A watcher gets no change twice, and changes in order.
    WatchIsInOrder,
    /// An event fits the state before it: ADDED is new, MODIFIED and DELETED are not.
    EventFitsState,
    /// A watcher's state is in the end the state of a list.
    WatchesConverge,
}

/// One violation, with the shortest part of the history that shows it.
#[derive(Clone, Debug)]
pub(crate) struct Violation {
    pub(crate) rule: Rule,
    pub(crate) message: String,
    /// Operations and events, one a line.
    pub(crate) lines: Vec<String>,
}

impl Violation {
    fn new(rule: Rule, message: String) -> Self {
        Self { rule, message, lines: Vec::new() }
    }

    fn with(mut self, line: impl fmt::Display) -> Self {
        let line = line.to_string();
        self.lines.extend((!line.is_empty()).then_some(line));
        self
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.rule, self.message)?;
        self.lines.iter().try_for_each(|line| write!(f, "\n    {line}"))
    }
}

/// Finds what is wrong with a history. The last operations must be a list and gets that began after all writes had ended.
pub(crate) fn check(history: &History) -> Vec<Violation> {
    let mut found = Vec::new();
    let versions = versions::gather(history, &mut found);
    // Without one meaning for each version, the other checks would report the same fault again in other words.
    if found.is_empty() {
        versions::stale_reads(history, &versions, &mut found);
        lists::check(history, &versions, &mut found);
        watches::check(history, &versions, &mut found);
        finals::check(history, &versions, &mut found);
        register::check(history, &versions, &mut found);
    }
    found
}
