//! What of a kind is wrong by itself, or stands in the way of another kind.
use super::Kind;

/// Checks a schema by itself.
pub(super) fn check_schema(kind: &Kind) -> Result<(), String> {
    let wrong = |problems: Vec<String>| {
        format!(
            "the schema of {} in {} is wrong: {}",
            kind.group_kind(),
            kind.group_version.version,
            problems.join("; ")
        )
    };
    kind.schema.check().map_err(wrong)
}

/// The keys of a kind are its own: none of them is below the prefix of another kind. They would be for a group named as
/// another kind's plural, such as `secrets`: groups are domains.
pub(super) fn check_keys((new, ours): (&Kind, &str), (old, theirs): (&Kind, &str)) -> Result<(), String> {
    if !ours.starts_with(theirs) && !theirs.starts_with(ours) || ours == theirs {
        return Ok(());
    }
    Err(format!(
        "the objects of {} cannot be told from those of {} in the store ({ours:?} and {theirs:?}): name its group as a domain",
        new.group_kind(),
        old.group_kind()
    ))
}

/// Within a group, a name stands for one kind only: clients look up plural, singular and short names alike.
pub(super) fn check_names(new: &Kind, old: &Kind) -> Result<(), String> {
    if new.group_version.group != old.group_version.group {
        return Ok(());
    }
    for kind in [&new.kind, &new.list_kind] {
        if [&old.kind, &old.list_kind].contains(&kind) {
            return Err(format!(
                "kind {kind} of {} is taken by {} of {}",
                new.group_resource(),
                old.kind,
                old.group_resource()
            ));
        }
    }
    let taken = |name: &str| name == old.plural || name == old.singular || old.short_names.iter().any(|n| n == name);
    let names = [&new.plural, &new.singular].into_iter().chain(&new.short_names);
    match names.into_iter().find(|name| taken(name)) {
        Some(name) => Err(format!("name {name:?} of {} is taken by {}", new.group_kind(), old.group_kind())),
        None => Ok(()),
    }
}
