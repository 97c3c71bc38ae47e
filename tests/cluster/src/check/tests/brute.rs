//! The search against a check that tries all orders, on small histories of one object with random answers.
use kindsmith_tests::Random;

use super::*;
use crate::check::{
    register::Effect,
    register::{Entry, Order, State, search},
};

fn applies(effect: Effect, state: (State, Version)) -> Option<(State, Version)> {
    let (now, newest) = state;
    let required = |at: Option<Version>| at.map_or(now != State::Absent, |at| now == State::At(at));
    let write = |version: Option<Version>| match version {
        Some(version) if version > newest => Some((State::At(version), version)),
        Some(_) => None,
        None => Some((State::Hidden, newest)),
    };
    match effect {
        Effect::Create(version) if now == State::Absent => write(version),
        Effect::Update(at, version) if required(at) => write(version),
        Effect::Delete(at) if required(at) => Some((State::Absent, newest)),
        Effect::IsAt(at) if now == State::At(at) => Some(state),
        Effect::IsAbsent if now == State::Absent => Some(state),
        Effect::IsPresent if now != State::Absent => Some(state),
        Effect::IsNotAt(at) if now != State::Absent && now != State::At(at) => Some(state),
        _ => None,
    }
}

fn any_order(left: &[Entry<'_>], state: (State, Version)) -> bool {
    left.iter().all(|entry| entry.end.is_none())
        || (0..left.len()).any(|index| {
            let mut rest = left.to_vec();
            let entry = rest.remove(index);
            !rest.iter().any(|other| other.end.is_some_and(|end| end < entry.start))
                && applies(entry.effect, state).is_some_and(|state| any_order(&rest, state))
        })
}

fn random_effect(random: &mut Random, written: &mut Vec<Version>) -> Effect {
    let new = |random: &mut Random, written: &mut Vec<Version>| {
        let version = u64::try_from(random.below(6)).unwrap() + 1;
        let new = (!random.one_in(4) && !written.contains(&version)).then_some(version);
        written.extend(new);
        new
    };
    let any = u64::try_from(random.below(6)).unwrap() + 1;
    let expect = (!random.one_in(3)).then_some(any);
    match random.below(10) {
        0 | 1 => Effect::Create(new(random, written)),
        2..=4 => Effect::Update(expect, new(random, written)),
        5 => Effect::Delete(expect),
        6 | 7 => Effect::IsAt(any),
        8 => *random.pick(&[Effect::IsAbsent, Effect::IsPresent]),
        _ => Effect::IsNotAt(any),
    }
}

#[test]
fn the_search_agrees_with_trying_all_orders() {
    let mut random = Random::from_environment();
    let source = Operation { client: 0, server: 0, start: 0, end: 0, call: get("a"), outcome: Outcome::Absent };
    let mut orders = [0; 2];
    for _ in 0..30_000 {
        let mut written = Vec::new();
        let mut entries = Vec::new();
        for _ in 0..=random.below(6) {
            let effect = random_effect(&mut random, &mut written);
            let start = random.below(20) as Time;
            // A write without a known version may still be acknowledged, as deletions are; a read has an end.
            let ends = !effect.changes() || !random.one_in(4);
            let end = ends.then(|| start + 1 + random.below(8) as Time);
            entries.push(Entry { start, end, effect, source: &source });
        }
        entries.sort_by_key(|entry| entry.start);
        let expected = any_order(&entries, (State::Absent, 0));
        let found = matches!(search(&entries, &[State::Absent]), Order::Exists);
        assert_eq!(found, expected, "{entries:#?}");
        orders[usize::from(found)] += 1;
    }
    assert!(orders.iter().all(|count| *count > 1000), "both answers are tested: {orders:?}");
}
