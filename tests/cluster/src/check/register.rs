//! Linearizability of the operations on one object: a register with versions. The search is that of Wing and Gong with
//! Lowe's memoization. Three facts keep it small. A read that fits the state can be taken at once. A write of a known
//! version must have the smallest version that remains. Writes of unknown outcome and version that do the same are
//! interchangeable: the first to begin represents them.
use std::collections::{BTreeSet, HashSet};

use super::{Rule, Violation, shorten, versions::Versions};
use crate::history::{Call, History, Operation, Outcome, Time, Version};

/// How many configurations are tried before the search gives up.
const LIMIT: usize = 2_000_000;

/// The state of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum State {
    Absent,
    At(Version),
    /// Written, but no client saw the version.
    Hidden,
}

/// What an operation does to the state, or requires of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Effect {
    /// The new version, if any client saw it.
    Create(Option<Version>),
    /// The required version, if any, and the new one.
    Update(Option<Version>, Option<Version>),
    /// The required version, if any.
    Delete(Option<Version>),
    IsAt(Version),
    IsAbsent,
    IsPresent,
    /// Present, at another version: what a conflict tells.
    IsNotAt(Version),
}

impl Effect {
    /// The version that the operation writes.
    pub(super) fn writes(self) -> Option<Version> {
        match self {
            Self::Create(version) | Self::Update(_, version) => version,
            _ => None,
        }
    }

    /// The version that the operation names, apart from that.
    pub(super) fn requires(self) -> Option<Version> {
        match self {
            Self::Update(version, _) | Self::Delete(version) => version,
            Self::IsAt(version) | Self::IsNotAt(version) => Some(version),
            _ => None,
        }
    }

    pub(super) fn changes(self) -> bool {
        matches!(self, Self::Create(_) | Self::Update(..) | Self::Delete(_))
    }

    /// The state after the operation, if it is possible in this state.
    fn apply(self, state: State) -> Option<State> {
        let written = |version: Option<Version>| version.map_or(State::Hidden, State::At);
        let matches = |expect: Option<Version>| match expect {
            Some(version) => state == State::At(version),
            None => state != State::Absent,
        };
        match self {
            Self::Create(version) => (state == State::Absent).then(|| written(version)),
            Self::Update(expect, version) => matches(expect).then(|| written(version)),
            Self::Delete(expect) => matches(expect).then_some(State::Absent),
            Self::IsAt(version) => (state == State::At(version)).then_some(state),
            Self::IsAbsent => (state == State::Absent).then_some(state),
            Self::IsPresent => (state != State::Absent).then_some(state),
            Self::IsNotAt(version) => (state != State::Absent && state != State::At(version)).then_some(state),
        }
    }
}

/// An operation on one object.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry<'a> {
    pub(super) start: Time,
    /// When it had taken effect at the latest; `None` if it may never have.
    pub(super) end: Option<Time>,
    pub(super) effect: Effect,
    pub(super) source: &'a Operation,
}

/// The operations on an object in the order of their starts; lists count as reads of every object.
pub(super) fn entries<'a>(history: &'a History, object: &str, versions: &Versions) -> Vec<Entry<'a>> {
    let mut entries: Vec<_> = history.operations.iter().filter_map(|o| entry(o, object, versions)).collect();
    entries.sort_by_key(|entry| entry.start);
    entries
}

fn entry<'a>(operation: &'a Operation, object: &str, versions: &Versions) -> Option<Entry<'a>> {
    let mut end = Some(operation.end);
    if operation.call.object().is_some_and(|named| named != object) {
        return None;
    }
    let effect = match (&operation.call, &operation.outcome) {
        (Call::List { .. }, Outcome::Listed { items, .. }) => match items.get(object) {
            Some((version, _)) => Effect::IsAt(*version),
            None => Effect::IsAbsent,
        },
        (Call::Get { .. }, Outcome::Found { version, .. }) => Effect::IsAt(*version),
        (Call::Delete { expect, .. }, outcome @ (Outcome::Deleted | Outcome::Unknown)) => {
            end = end.filter(|_| *outcome == Outcome::Deleted);
            Effect::Delete(*expect)
        }
        (call, outcome @ (Outcome::Written { .. } | Outcome::Unknown)) => {
            // The first client that saw the value bounds when it was written, even if the writer got no answer.
            let seen = versions.of_value(object, call.value()?);
            let answered = (*outcome != Outcome::Unknown).then_some(operation.end);
            end = seen.map(|(_, known)| known.seen).into_iter().chain(answered).min();
            let version = seen.map(|(version, _)| version);
            match call {
                Call::Create { .. } => Effect::Create(version),
                Call::Update { expect, .. } => Effect::Update(*expect, version),
                _ => return None,
            }
        }
        (Call::Create { .. }, Outcome::Exists) => Effect::IsPresent,
        (Call::Update { expect: Some(at), .. } | Call::Delete { expect: Some(at), .. }, Outcome::Conflict) => {
            Effect::IsNotAt(*at)
        }
        (_, Outcome::Absent) => Effect::IsAbsent,
        _ => return None,
    };
    Some(Entry { start: operation.start, end, effect, source: operation })
}

/// A point of the search: what has been put in order, and the state after it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Configuration {
    state: State,
    newest: Version,
    /// One bit an operation.
    done: Vec<u64>,
}

impl Configuration {
    fn is_done(&self, index: usize) -> bool {
        self.done[index / 64] & 1 << (index % 64) != 0
    }

    fn take(&mut self, index: usize, state: State) {
        self.done[index / 64] |= 1 << (index % 64);
        self.state = state;
        if let State::At(version) = state {
            self.newest = self.newest.max(version);
        }
    }

    /// The operations that may be next: they began before any other remaining operation had ended.
    fn next(&self, entries: &[Entry<'_>]) -> Vec<usize> {
        let left = || (0..entries.len()).filter(|index| !self.is_done(*index));
        let until = left().filter_map(|index| entries[index].end).min().unwrap_or(Time::MAX);
        left().take_while(|index| entries[*index].start <= until).collect()
    }

    /// Takes all reads that fit the state; they never stand in the way of others. Returns the operations that may follow.
    fn settle(&mut self, entries: &[Entry<'_>]) -> Vec<usize> {
        loop {
            let next = self.next(entries);
            let fits = |index: &usize| {
                !entries[*index].effect.changes() && entries[*index].effect.apply(self.state) == Some(self.state)
            };
            let reads: Vec<_> = next.iter().copied().filter(fits).collect();
            if reads.is_empty() {
                return next;
            }
            for index in reads {
                self.take(index, self.state);
            }
        }
    }
}

/// The result of a search.
pub(super) enum Order {
    Exists,
    /// The state in which the search came furthest, and the operations that do not fit there.
    Missing(State, Vec<usize>),
    Undecided,
}

/// Searches an order from one of these states.
pub(super) fn search(entries: &[Entry<'_>], from: &[State]) -> Order {
    let start = |state: &State| {
        let newest = if let State::At(version) = state { *version } else { 0 };
        Configuration { state: *state, newest, done: vec![0; entries.len().div_ceil(64)] }
    };
    let mut stack: Vec<_> = from.iter().rev().map(start).collect();
    let mut tried = HashSet::new();
    let mut furthest = (0, State::Absent, Vec::new());
    while let Some(mut configuration) = stack.pop() {
        let next = configuration.settle(entries);
        if (0..entries.len()).all(|index| entries[index].end.is_none() || configuration.is_done(index)) {
            return Order::Exists;
        }
        if !tried.insert(configuration.clone()) {
            continue;
        }
        if tried.len() > LIMIT {
            return Order::Undecided;
        }
        let count = configuration.done.iter().map(|bits| bits.count_ones()).sum::<u32>();
        if count >= furthest.0 {
            furthest = (count, configuration.state, next.clone());
        }
        // The last one pushed is tried first: acknowledged operations come before optional ones.
        for optional in [true, false] {
            follow(&configuration, entries, &next, optional, &mut stack);
        }
    }
    Order::Missing(furthest.1, furthest.2)
}

fn follow(from: &Configuration, entries: &[Entry<'_>], next: &[usize], optional: bool, stack: &mut Vec<Configuration>) {
    let mut effects = BTreeSet::new();
    let due = (0..entries.len()).filter(|index| entries[*index].end.is_some() && !from.is_done(*index));
    let least = due.filter_map(|index| entries[index].effect.writes()).min().unwrap_or(Version::MAX);
    for &index in next {
        let Entry { end, effect, .. } = &entries[index];
        let Some(state) = effect.apply(from.state).filter(|_| effect.changes() && end.is_none() == optional) else {
            continue;
        };
        let fits = effect.writes().is_none_or(|version| version > from.newest && version <= least);
        if !fits || optional && !effects.insert(*effect) {
            continue;
        }
        let mut following = from.clone();
        following.take(index, state);
        stack.push(following);
    }
}

/// Reports each object whose operations have no order.
pub(super) fn check(history: &History, versions: &Versions, found: &mut Vec<Violation>) {
    let named = history.operations.iter().filter_map(|o| o.call.object());
    for object in named.collect::<BTreeSet<_>>() {
        let entries = entries(history, object, versions);
        match search(&entries, &[State::Absent]) {
            Order::Exists => {}
            Order::Undecided => {
                let message = format!("no order of the operations on {object} was found in {LIMIT} steps");
                found.push(Violation::new(Rule::Decidable, message));
            }
            Order::Missing(..) => found.push(shorten::violation(object, &entries)),
        }
    }
}
