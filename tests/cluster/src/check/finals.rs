//! The end of a history: acknowledged writes are there, or something later replaced them, and watchers have the same state
//! as a list.
use super::{
    Rule, Violation,
    versions::Versions,
    watches::{Replayed, replay},
};
use crate::history::{Call, History, Items, Operation, Outcome, Version};

/// The last list that began after all writes had ended, or had been given up.
fn last_list(history: &History) -> Option<(&Operation, Version, &Items)> {
    let writes = history.operations.iter().filter(|o| !matches!(o.call, Call::Get { .. } | Call::List { .. }));
    let quiet = writes.map(|operation| operation.end).max().unwrap_or(0);
    let lists = history.operations.iter().filter(|operation| operation.start >= quiet);
    let lists = lists.filter_map(|operation| match &operation.outcome {
        Outcome::Listed { version, items } => Some((operation, *version, items)),
        _ => None,
    });
    lists.max_by_key(|(operation, ..)| operation.start)
}

pub(super) fn check(history: &History, versions: &Versions, found: &mut Vec<Violation>) {
    let Some((list, at, items)) = last_list(history) else { return };
    for operation in &history.operations {
        let (Some(object), Outcome::Written { version }) = (operation.call.object(), &operation.outcome) else {
            continue;
        };
        let present = items.get(object).map(|(version, _)| *version);
        let deleted = || {
            let seen = versions.objects.get(object).into_iter().flat_map(|track| track.range(version + 1..));
            seen.into_iter().any(|(_, known)| known.value.is_none())
                || super::lists::deletion_unseen(history, object, list.end)
        };
        if present.is_none_or(|present| present < *version) && !(present.is_none() && deleted()) {
            let message = format!("{object} was written as version {version}, but the last list has {present:?}");
            found.push(Violation::new(Rule::AcknowledgedIsKept, message).with(operation).with(list));
        }
    }
    for (number, watcher) in history.watchers.iter().enumerate() {
        let Replayed { position, state, .. } = replay(number, watcher, &mut Vec::new());
        let newest = versions.changes.range(..=at).rev().find(|(_, object)| watcher.covers(object));
        let newest = newest.map_or(0, |(version, _)| *version);
        let items = items.iter().filter(|(object, _)| watcher.covers(object));
        let items: Items = items.map(|(object, item)| (object.clone(), item.clone())).collect();
        if watcher.steps.is_empty() || position < newest {
            let message = format!("watcher {number} ended at version {position}, but the last change is {newest}");
            found.push(Violation::new(Rule::WatchIsComplete, message).with(list));
        } else if let Some(difference) = difference(&state, &items).filter(|_| position <= at) {
            let message = format!("watcher {number} does not have the state of the last list: {difference}");
            found.push(Violation::new(Rule::WatchesConverge, message).with(list));
        }
    }
}

fn difference(state: &Items, list: &Items) -> Option<String> {
    let mut names: Vec<_> = state.keys().chain(list.keys()).collect();
    names.dedup();
    let name = names.into_iter().find(|name| state.get(*name) != list.get(*name))?;
    Some(format!("{name} is {:?}, and {:?} in the list", state.get(name), list.get(name)))
}
