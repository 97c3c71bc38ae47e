//! Rules about kinds as wholes.
use kindsmith::kind::model::{Grace, NameRule, Scope};

use crate::check::rule::{
    Check, Kind, Notes,
    Party::{Json, Kubectl, Stored, Watchers},
    Presence, Rule, source,
};

pub(super) static RULES: [Rule; 10] = [
    Check::Presence(removed)
        .breaking("kind-removed", &[Json, Stored, Watchers, Kubectl], source::DEPRECATION)
        .about("A kind is removed.")
        .harm("all its requests are answered with 404, watches end, and its stored objects cannot be reached")
        .instead("Deprecate its versions first, and remove them when they are out of use."),
    Check::Presence(moved)
        .breaking("group-changed", &[Json, Stored, Watchers, Kubectl], source::DEPRECATION)
        .about("A kind is moved to another group.")
        .harm("paths, roles and manifests name the old group, and objects stay stored under it")
        .instead("Serve the kind in both groups, copy the objects, and deprecate the old group."),
    Check::Presence(|presence, notes| notes.when(presence.old.is_none(), "added"))
        .compatible("kind-added", "A kind is added."),
    Check::Kind(|kind, notes| notes.differ("its kind", &kind.old.shared.names.kind, &kind.new.shared.names.kind))
        .breaking("kind-renamed", &[Json, Stored, Watchers], source::KINDS)
        .about("The kind of a resource has another name.")
        .harm("manifests and clients that say the old kind are refused, and clients do not decode the new one")
        .instead("Add a kind of the new name, and deprecate the old one."),
    Check::Kind(scope)
        .breaking("scope-changed", &[Json, Stored, Watchers], source::URIS)
        .about("Objects move into namespaces, or out of them.")
        .harm("all paths change, and stored objects have keys that no path leads to")
        .instead("Add a kind of another name with the new scope."),
    Check::Kind(|kind, notes| match (kind.old.shared.stored, kind.new.shared.stored) {
        (true, false) => notes.here("its objects are no longer stored"),
        (false, true) => notes.here("its objects are stored now"),
        _ => {}
    })
    .breaking("storing-changed", &[Json, Stored, Watchers], source::KINDS)
    .about("Objects of a kind are no longer stored, or are stored now.")
    .harm("a kind that is not stored answers POST alone, and one that is stored answers it with the stored object")
    .instead("Add a kind of another name."),
    Check::Kind(|kind, notes| notes.some(name_rule(kind, true)))
        .breaking("name-rule-tightened", &[Json, Stored], source::METADATA)
        .about("Fewer names of objects are allowed.")
        .harm("objects with other names cannot be created any more")
        .instead("Keep the rule, and warn of other names in admission."),
    Check::Kind(|kind, notes| notes.some(name_rule(kind, false)))
        .warning("name-rule-loosened", &[Json, Watchers], source::METADATA)
        .about("More names of objects are allowed.")
        .harm("controllers that put names into other names, labels or hosts may meet one that does not fit")
        .instead("Check what the readers of names do with them."),
    Check::Kind(|kind, notes| {
        if let (before, Some(now)) = (&kind.old.shared.grace, &kind.new.shared.grace)
            && before.as_ref() != Some(now)
        {
            let before = before.as_ref().map_or_else(|| "absent".to_owned(), grace);
            notes.here(format!("the grace period was {before}, is {}", grace(now)));
        }
    })
    .warning("grace-changed", &[Json, Watchers], source::DELETION)
    .about("Objects end gracefully, or end differently.")
    .harm("an object that is deleted stays for a while, so that its name is taken and watchers get an update first")
    .instead("Tell clients to wait for the deletion, or have them request a grace period of zero."),
    Check::Kind(|kind, notes| {
        if let (Some(before), None) = (&kind.old.shared.grace, &kind.new.shared.grace) {
            notes.here(format!("the grace period was {}, and there is no longer one", grace(before)));
        }
    })
    .breaking("grace-removed", &[Watchers], source::DELETION)
    .about("Objects no longer end gracefully.")
    .harm("a deleted object is gone at once, and controllers that finish its work while it ends come too late")
    .instead("Keep the grace period, or have the controllers set finalizers."),
];

fn removed(presence: &Presence<'_>, notes: &mut Notes) {
    notes.when(presence.new.is_none() && new_group(presence).is_none(), "removed");
}

fn moved(presence: &Presence<'_>, notes: &mut Notes) {
    if let (Some(old), None, Some(group)) = (presence.old, presence.new, new_group(presence)) {
        notes.here(format!("moved from the group {:?} to {group:?}", old.definition.shared.group));
    }
}

/// The group in which there is a new kind of the same names.
fn new_group<'p>(presence: &'p Presence<'_>) -> Option<&'p str> {
    let names = &presence.old?.definition.shared.names;
    let is_new = |group: &str| {
        let mut before = presence.all.old.iter().map(|old| &old.definition.shared);
        !before.any(|shared| shared.group == group && shared.names.plural == names.plural)
    };
    let mut shared = presence.all.new.iter().map(|new| &new.definition.shared);
    let found = shared
        .find(|other| other.names.kind == names.kind && other.names.plural == names.plural && is_new(&other.group));
    found.map(|shared| &*shared.group)
}

fn scope(kind: &Kind<'_>, notes: &mut Notes) {
    match (kind.old.shared.scope, kind.new.shared.scope) {
        (Scope::Namespaced, Scope::Cluster) => notes.here("was namespaced, is cluster-scoped"),
        (Scope::Cluster, Scope::Namespaced) => notes.here("was cluster-scoped, is namespaced"),
        _ => {}
    }
}

fn name_rule(kind: &Kind<'_>, tightens: bool) -> Option<String> {
    let width = |rule: NameRule| match rule {
        NameRule::Label => 0,
        NameRule::Subdomain => 1,
        NameRule::PathSegment => 2,
    };
    let (old, new) = (kind.old.shared.name_rule, kind.new.shared.name_rule);
    let is_found = if tightens { width(new) < width(old) } else { width(new) > width(old) };
    is_found.then(|| format!("the rule for names was {old:?}, is {new:?}"))
}

fn grace(grace: &Grace) -> String {
    match grace {
        Grace::Seconds(seconds) => format!("{seconds} s"),
        Grace::Path(path) => format!("that in .{path}"),
        _ => format!("{grace:?}"),
    }
}
