//! Conflicts between resources: keys in the store, and names in a group.
use crate::kind::{Definition, model::Shared};

/// The keys of a kind must not be below the prefix of another kind. That would happen for a group named like another
/// kind's plural, such as `secrets`: groups are domains.
pub(super) fn check_keys((new, ours): (&Shared, &str), (old, theirs): (&Shared, &str)) -> Result<(), String> {
    if !ours.starts_with(theirs) && !theirs.starts_with(ours) || ours == theirs {
        return Ok(());
    }
    Err(format!(
        "the objects of {} cannot be distinguished from those of {} in the store ({ours:?} and {theirs:?}): name its group as a domain",
        new.group_kind(),
        old.group_kind()
    ))
}

/// Names are unique within a group: clients look up plural, singular and short names alike.
pub(super) fn check_names(new: &Definition, old: &Definition) -> Result<(), String> {
    if !new.groups().any(|group| old.groups().any(|other| other == group)) {
        return Ok(());
    }
    let (new, old) = (&new.shared, &old.shared);
    for kind in [&new.names.kind, &new.names.list_kind] {
        if [&old.names.kind, &old.names.list_kind].contains(&kind) {
            return Err(format!(
                "kind {kind} of {} is taken by {} of {}",
                new.group_resource(),
                old.names.kind,
                old.group_resource()
            ));
        }
    }
    let taken = |name: &str| {
        name == old.names.plural || name == old.names.singular || old.names.short_names.iter().any(|n| n == name)
    };
    let names = [&new.names.plural, &new.names.singular].into_iter().chain(&new.names.short_names);
    match names.into_iter().find(|name| taken(name)) {
        Some(name) => Err(format!("name {name:?} of {} is taken by {}", new.group_kind(), old.group_kind())),
        None => Ok(()),
    }
}
