//! A list is the state of all objects at its version.
use super::{Rule, Violation, versions::Versions};
use crate::history::{Call, History, Items, Outcome, Time, Version};

/// True if a deletion of the object that no watcher saw may explain that it is absent.
pub(super) fn deletion_unseen(history: &History, object: &str, before: Time) -> bool {
    history.operations.iter().any(|operation| {
        matches!(&operation.call, Call::Delete { object: deleted, .. } if deleted == object)
            && !operation.outcome.failed()
            && operation.start < before
    })
}

/// Compares a list with the known states at its version.
fn differences(history: &History, versions: &Versions, at: Version, items: &Items, end: Time) -> Vec<String> {
    let mut differences = Vec::new();
    for (object, (version, _)) in items {
        if *version > at {
            differences.push(format!("{object} is of the later version {version}"));
        } else if let Some((newer, known)) = versions.state(object, at).filter(|(newer, _)| newer > version) {
            let state = known.value.as_deref().unwrap_or("deleted");
            differences.push(format!("{object} is of version {version}, but was {state} at version {newer}"));
        }
    }
    for object in versions.objects.keys().filter(|object| !items.contains_key(*object)) {
        let Some((version, known)) = versions.state(object, at) else { continue };
        if known.value.is_some() && !deletion_unseen(history, object, end) {
            differences.push(format!("{object} is missing, but was there since version {version}"));
        }
    }
    differences
}

pub(super) fn check(history: &History, versions: &Versions, found: &mut Vec<Violation>) {
    for operation in &history.operations {
        let Outcome::Listed { version, items } = &operation.outcome else { continue };
        let differences = differences(history, versions, *version, items, operation.end);
        if !differences.is_empty() {
            let message = format!("a list is not the state at its version {version}");
            let mut violation = Violation::new(Rule::ListIsOneState, message).with(operation);
            violation.lines.extend(differences);
            found.push(violation);
        }
    }
}
