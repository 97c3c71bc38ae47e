//! Random executions of a correct server are accepted, with operations that overlap and outcomes that clients do not
//! learn; the same with one fault are rejected.
use kindsmith_tests::Random;
use proptest::prelude::*;

use super::*;

const OBJECTS: [&str; 3] = ["a", "b", "c"];

/// A correct server, of which each operation takes effect at one time between its start and its end.
struct Simulation {
    random: Random,
    state: Items,
    /// Numbers leave room between versions for wrong ones.
    version: Version,
    events: Vec<(Time, Seen)>,
    operations: Vec<Operation>,
    /// Writes whose effect comes after their clients gave up.
    late: Vec<(Time, Call)>,
    /// When each client's last operation ended.
    busy: [Time; 5],
}

impl Simulation {
    fn draw(&mut self, bound: usize) -> Time {
        self.random.below(bound) as Time
    }

    fn call(&mut self) -> Call {
        let object: String = (*self.random.pick(&OBJECTS)).to_owned();
        let value = format!("v{}", self.random.number());
        let current = self.state.get(&object).map_or(70, |(version, _)| *version);
        let expect = match self.random.below(6) {
            0 => Some(current.saturating_sub(10)),
            1 => None,
            _ => Some(current),
        };
        match self.random.below(10) {
            0..=1 => Call::Create { object, value },
            2..=4 => Call::Update { object, value, expect },
            5 => Call::Delete { object, expect },
            6..=8 => Call::Get { object },
            _ => Call::List { pages: 1 },
        }
    }

    fn apply(&mut self, now: Time, call: &Call) -> Outcome {
        let current = call.object().and_then(|object| self.state.get(object)).cloned();
        let (object, value, expect) = match call {
            Call::Get { .. } => return current.map_or(Outcome::Absent, |(version, value)| found(version, &value)),
            Call::List { .. } => return Outcome::Listed { version: self.version, items: self.state.clone() },
            Call::Create { .. } if current.is_some() => return Outcome::Exists,
            Call::Create { object, value } => (object, Some(value), None),
            Call::Update { object, value, expect } => (object, Some(value), *expect),
            Call::Delete { object, expect } => (object, None, *expect),
        };
        match (call, &current) {
            (Call::Update { .. } | Call::Delete { .. }, None) => return Outcome::Absent,
            (_, Some((version, _))) if expect.is_some_and(|expect| expect != *version) => return Outcome::Conflict,
            _ => {}
        }
        self.version += 10;
        let version = self.version;
        let seen = match (value, current) {
            (Some(value), None) => added(object, version, value),
            (Some(value), Some(_)) => modified(object, version, value),
            (None, current) => deleted(object, version, &current.expect("it was there").1),
        };
        self.events.push((now, seen));
        if let Some(value) = value {
            self.state.insert(object.clone(), (version, value.clone()));
            Outcome::Written { version }
        } else {
            self.state.remove(object);
            Outcome::Deleted
        }
    }

    /// One operation that takes effect now, if a client is free.
    fn step(&mut self, now: Time) {
        while let Some(index) = self.late.iter().position(|(due, _)| *due <= now) {
            let (_, call) = self.late.remove(index);
            self.apply(now, &call);
        }
        let client = self.random.below(self.busy.len());
        if self.busy[client] + 1 >= now {
            return;
        }
        let (call, start) = (self.call(), (self.busy[client] + 1).max(now.saturating_sub(self.draw(400))));
        let end = now + 1 + self.draw(400);
        let writes = call.value().is_some() || matches!(call, Call::Delete { .. });
        let outcome = match self.random.below(24) {
            0 if writes => Outcome::Unknown,
            1 if writes => {
                let due = end + 1 + self.draw(2000);
                self.late.push((due, call.clone()));
                Outcome::Unknown
            }
            2 if writes => {
                self.apply(now, &call);
                Outcome::Unknown
            }
            _ => self.apply(now, &call),
        };
        self.busy[client] = end;
        self.operations.push(Operation { client, server: client % 3, start, end, call, outcome });
    }

    fn watcher(&mut self) -> Watcher {
        let mut time = 0;
        let first = Step { time, server: 0, seen: Seen::Listed { version: 0, items: Items::new() } };
        let mut steps = vec![first];
        for (at, seen) in self.events.clone() {
            time = time.max(at + self.draw(500));
            steps.push(Step { time, server: 0, seen });
        }
        Watcher { selects: None, steps }
    }
}

fn execution(seed: u64) -> (History, Random) {
    let random = Random::from_seed(seed);
    let (state, version, events) = (Items::new(), 100, Vec::new());
    let mut run = Simulation { random, state, version, events, operations: vec![], late: vec![], busy: [0; 5] };
    (1..150).for_each(|tick| run.step(tick * 100));
    run.late.clear();
    let (start, end) = (100_000, 100_001);
    let call = Call::List { pages: 1 };
    let outcome = run.apply(start, &call);
    run.operations.push(Operation { client: 0, server: 0, start, end, call, outcome });
    let watchers = vec![run.watcher(), run.watcher()];
    (History { operations: run.operations, watchers }, run.random)
}

/// A fault that a server may have, put into a history. False if the history has no place for it.
type Fault = fn(&mut History, &mut Random) -> bool;

/// An acknowledged write, the time of its end, and an older version of the same object.
fn overwritten(history: &History, before: Time) -> Vec<(String, Version, (Version, String))> {
    let acknowledged = history.operations.iter().filter(|operation| operation.end < before);
    let acknowledged: Vec<_> = acknowledged
        .filter_map(|operation| match &operation.outcome {
            Outcome::Written { version } => Some((operation.call.object()?, *version, operation.call.value()?)),
            _ => None,
        })
        .collect();
    let older = acknowledged.iter().flat_map(|(object, version, _)| {
        let older = acknowledged.iter().filter(move |(other, older, _)| other == object && older < version);
        older.map(|(_, older, value)| ((*object).to_owned(), *version, (*older, (*value).to_owned())))
    });
    older.collect()
}

fn stale_get(history: &mut History, random: &mut Random) -> bool {
    let index = random.below(history.operations.len());
    let Operation { start, call: Call::Get { object }, .. } = &history.operations[index] else { return false };
    let older = overwritten(history, *start).into_iter().find(|(named, ..)| named == object);
    let Some((_, _, (version, value))) = older else { return false };
    history.operations[index].outcome = found(version, &value);
    true
}

fn list_with_an_older_object(history: &mut History, random: &mut Random) -> bool {
    let index = random.below(history.operations.len());
    let start = history.operations[index].start;
    let older = overwritten(history, start);
    let Outcome::Listed { items, .. } = &mut history.operations[index].outcome else { return false };
    let Some((object, _, older)) = older.into_iter().find(|(object, ..)| items.contains_key(object)) else {
        return false;
    };
    items.insert(object, older);
    true
}

fn lost_write(history: &mut History, random: &mut Random) -> bool {
    let index = random.below(history.operations.len());
    let operation = &mut history.operations[index];
    let Call::Update { expect: Some(_), .. } = operation.call else { return false };
    if operation.outcome != Outcome::Conflict {
        return false;
    }
    operation.outcome = written(90_001);
    true
}

fn failed_write_with_effect(history: &mut History, random: &mut Random) -> bool {
    let index = random.below(history.operations.len());
    let operation = &mut history.operations[index];
    let written = matches!(operation.outcome, Outcome::Written { .. });
    if written {
        operation.outcome = Outcome::Refused;
    }
    written
}

/// The index of a random event of a random watcher.
fn event(history: &History, random: &mut Random, room: usize) -> Option<(usize, usize)> {
    let watcher = random.below(history.watchers.len());
    let count = history.watchers[watcher].steps.len().checked_sub(1 + room).filter(|count| *count > 0)?;
    Some((watcher, 1 + random.below(count)))
}

fn missing_event(history: &mut History, random: &mut Random) -> bool {
    event(history, random, 0).map(|(watcher, index)| history.watchers[watcher].steps.remove(index)).is_some()
}

fn repeated_event(history: &mut History, random: &mut Random) -> bool {
    let Some((watcher, index)) = event(history, random, 0) else { return false };
    let steps = &mut history.watchers[watcher].steps;
    steps.insert(index, steps[index].clone());
    true
}

fn swapped_events(history: &mut History, random: &mut Random) -> bool {
    let Some((watcher, index)) = event(history, random, 1) else { return false };
    let steps = &mut history.watchers[watcher].steps;
    let later = steps[index + 1].seen.clone();
    steps[index + 1].seen = std::mem::replace(&mut steps[index].seen, later);
    true
}

const FAULTS: [(&str, Fault); 7] = [
    ("stale get", stale_get),
    ("list with an older object", list_with_an_older_object),
    ("lost write", lost_write),
    ("failed write with effect", failed_write_with_effect),
    ("missing event", missing_event),
    ("repeated event", repeated_event),
    ("swapped events", swapped_events),
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn correct_executions_are_accepted(seed: u64) {
        let found: Vec<_> = check(&execution(seed).0).iter().map(ToString::to_string).collect();
        prop_assert!(found.is_empty(), "{found:#?}");
    }
}

#[test]
fn executions_with_one_fault_are_rejected() {
    for (name, fault) in FAULTS {
        let mut tried = 0;
        for seed in 0..60 {
            let (mut history, mut random) = execution(seed);
            if (0..40).any(|_| fault(&mut history, &mut random)) {
                tried += 1;
                assert!(!check(&history).is_empty(), "{name} in the execution of seed {seed} was accepted");
            }
        }
        assert!(tried >= 30, "{name} was tried in {tried} executions only");
    }
}
