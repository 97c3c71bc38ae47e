//! Makes a history without an order shorter while it has none, so that people can read what is wrong.
use super::{
    Rule, Violation,
    register::{Effect, Entry, Order, State, search},
};
use crate::history::Time;

fn has_none(entries: &[Entry<'_>], from: &[State]) -> bool {
    matches!(search(entries, from), Order::Missing(..))
}

/// The knowledge at a time: operations that had not ended may or may not have had their effect.
fn until<'a>(entries: &[Entry<'a>], time: Time) -> Vec<Entry<'a>> {
    let begun = entries.iter().filter(|entry| entry.start <= time);
    let cut = begun.map(|entry| Entry { end: entry.end.filter(|end| *end <= time), ..*entry });
    // An answer that had not come yet says nothing.
    cut.filter(|entry| entry.end.is_some() || entry.effect.changes()).collect()
}

/// The states that may be there before the first operation of a part.
fn states(entries: &[Entry<'_>]) -> Vec<State> {
    let named = entries.iter().flat_map(|entry| [entry.effect.requires(), entry.effect.writes()]);
    let mut states: Vec<_> = named.flatten().map(State::At).collect();
    states.extend([State::Absent, State::Hidden]);
    states
}

/// The shortest beginning without an order.
fn beginning<'a>(entries: &[Entry<'a>]) -> Vec<Entry<'a>> {
    let mut ends: Vec<_> = entries.iter().filter_map(|entry| entry.end).collect();
    ends.sort_unstable();
    let first = ends.partition_point(|end| !has_none(&until(entries, *end), &[State::Absent]));
    ends.get(first).map_or_else(|| entries.to_vec(), |end| until(entries, *end))
}

/// The shortest end of that which has no order from any state.
fn end<'a>(entries: &[Entry<'a>]) -> Option<Vec<Entry<'a>>> {
    let mut ends: Vec<_> = entries.iter().filter_map(|entry| entry.end).collect();
    ends.sort_unstable();
    let after = |time: &Time| -> Vec<Entry<'a>> {
        entries.iter().filter(|entry| entry.end.is_none_or(|end| end > *time)).copied().collect()
    };
    let count = ends.partition_point(|time| {
        let part = after(time);
        has_none(&part, &states(&part))
    });
    count.checked_sub(1).map(|last| after(&ends[last]))
}

/// Describes why the operations on an object have no order. They must have none.
pub(super) fn violation(object: &str, entries: &[Entry<'_>]) -> Violation {
    let beginning = beginning(entries);
    let (mut part, from) = match end(&beginning) {
        Some(part) => {
            let states = states(&part);
            (part, states)
        }
        None => (beginning, vec![State::Absent]),
    };
    // Only reads: without a write, the others could fail for another reason.
    let mut index = 0;
    while index < part.len() {
        let mut fewer = part.clone();
        if !fewer.remove(index).effect.changes() && has_none(&fewer, &from) {
            part = fewer;
        } else {
            index += 1;
        }
    }
    let Order::Missing(state, stuck) = search(&part, &from) else {
        return Violation::new(Rule::Linearizable, format!("the operations on {object} have no order"));
    };
    let message = format!("the operations on {object} have no order that explains these answers; stuck in {state:?}");
    let mut violation = Violation::new(Rule::Linearizable, message);
    for (index, entry) in part.iter().enumerate() {
        let mark = if stuck.contains(&index) { "? " } else { "  " };
        let seen = match (entry.effect, entry.end) {
            (Effect::Create(Some(version)) | Effect::Update(_, Some(version)), Some(_)) => {
                format!(" (seen as {version})")
            }
            (_, None) => " (may never have happened)".to_owned(),
            _ => String::new(),
        };
        violation = violation.with(format!("{mark}{}{seen}", entry.source));
    }
    violation
}
