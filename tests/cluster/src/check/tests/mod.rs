//! Tests of the checker: known-bad histories, random ones, and a comparison with trying all orders.
mod bad;
mod bad_watches;
mod brute;
mod random;

use super::{Rule, Violation, check};
use crate::history::{Call, History, Items, Operation, Outcome, Seen, Step, Time, Version, Watcher};

/// Builds a history by hand. Times are given as small numbers; clients do not matter.
#[derive(Default)]
struct Script(History);

fn found(version: Version, value: &str) -> Outcome {
    Outcome::Found { version, value: value.into() }
}

fn written(version: Version) -> Outcome {
    Outcome::Written { version }
}

fn create(object: &str, value: &str) -> Call {
    Call::Create { object: object.into(), value: value.into() }
}

fn update(object: &str, value: &str, expect: Version) -> Call {
    Call::Update { object: object.into(), value: value.into(), expect: Some(expect) }
}

fn overwrite(object: &str, value: &str) -> Call {
    Call::Update { object: object.into(), value: value.into(), expect: None }
}

fn delete(object: &str) -> Call {
    Call::Delete { object: object.into(), expect: None }
}

fn get(object: &str) -> Call {
    Call::Get { object: object.into() }
}

fn items(items: &[(&str, Version, &str)]) -> Items {
    items.iter().map(|(object, version, value)| ((*object).into(), (*version, (*value).into()))).collect()
}

fn listed(version: Version, all: &[(&str, Version, &str)]) -> Outcome {
    Outcome::Listed { version, items: items(all) }
}

fn added(object: &str, version: Version, value: &str) -> Seen {
    Seen::Added { object: object.into(), version, value: value.into() }
}

fn modified(object: &str, version: Version, value: &str) -> Seen {
    Seen::Modified { object: object.into(), version, value: value.into() }
}

fn deleted(object: &str, version: Version, value: &str) -> Seen {
    Seen::Deleted { object: object.into(), version, value: value.into() }
}

impl Script {
    /// An operation between two times.
    fn at(mut self, start: Time, end: Time, call: Call, outcome: Outcome) -> Self {
        self.0.operations.push(Operation { client: 0, server: 0, start, end, call, outcome });
        self
    }

    fn list(self, start: Time, end: Time, version: Version, all: &[(&str, Version, &str)]) -> Self {
        self.at(start, end, Call::List { pages: 1 }, listed(version, all))
    }

    /// A watcher from a list, with its events at consecutive times.
    fn watcher(mut self, from: Version, all: &[(&str, Version, &str)], events: Vec<Seen>) -> Self {
        let first = Seen::Listed { version: from, items: items(all) };
        let steps = std::iter::once(first).chain(events).zip(1000..);
        let steps = steps.map(|(seen, time)| Step { time, server: 0, seen }).collect();
        self.0.watchers.push(Watcher { selects: None, steps });
        self
    }

    /// The watcher selects an object.
    fn selecting(mut self, object: &str) -> Self {
        self.0.watchers.last_mut().expect("a watcher").selects = Some(object.to_owned());
        self
    }

    fn rules(&self) -> Vec<Rule> {
        let mut rules: Vec<_> = check(&self.0).into_iter().map(|violation| violation.rule).collect();
        rules.sort_unstable();
        rules.dedup();
        rules
    }

    /// The history has exactly this fault; returns it.
    #[track_caller]
    fn breaks(&self, rule: Rule) -> Violation {
        let found = check(&self.0);
        let text: Vec<_> = found.iter().map(ToString::to_string).collect();
        assert!(found.iter().any(|violation| violation.rule == rule), "{rule:?} was not found, but: {text:#?}");
        found.into_iter().find(|violation| violation.rule == rule).expect("it is there")
    }

    #[track_caller]
    fn holds(&self) {
        let text: Vec<_> = check(&self.0).iter().map(ToString::to_string).collect();
        assert!(text.is_empty(), "{text:#?}");
    }
}
