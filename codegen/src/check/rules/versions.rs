//! Rules about the versions that are served.
use kindsmith::{
    kind::{Definition, model::Version},
    meta::by_priority,
};

use crate::check::rule::{
    Check, Kind, Notes,
    Party::{Json, Kubectl, Stored, Watchers},
    Rule, source,
};

pub(super) static RULES: [Rule; 9] = [
    Check::Kind(|kind, notes| {
        let removed = kind.old.versions.iter().filter(|old| old.served && version(kind.new, &old.name).is_none());
        removed.for_each(|old| notes.version(&old.name, "removed"));
    })
    .breaking("version-removed", &[Json, Watchers, Kubectl], source::DEPRECATION)
    .about("A version that was served is removed.")
    .harm("requests and manifests of the version are answered with 404, and its watches end")
    .instead("Deprecate the version, and remove it when it is out of use."),
    Check::Kind(|kind, notes| {
        let stored = &kind.old.storage_version;
        let removed = kind.old.versions.iter().filter(|old| !old.served && old.name != *stored);
        let removed = removed.filter(|old| version(kind.new, &old.name).is_none());
        removed.for_each(|old| notes.version(&old.name, "removed"));
    })
    .warning("unserved-version-removed", &[Stored], source::CUSTOM)
    .about("A version that was no longer served is removed.")
    .harm("objects may still be stored in it, and could not be read")
    .instead("Migrate the stored objects first: the version may not be in status.storedVersions of the definition."),
    Check::VersionUnset(|of| of.served, "no longer served")
        .breaking("version-unserved", &[Json, Watchers, Kubectl], source::DEPRECATION)
        .about("A version is no longer served.")
        .harm("requests and manifests of the version are answered with 404, and its watches end")
        .instead("Deprecate the version, and stop serving it when it is out of use."),
    Check::Kind(|kind, notes| {
        let added = kind.new.versions.iter().filter(|new| version(kind.old, &new.name).is_none());
        added.for_each(|new| notes.version(&new.name, "added"));
    })
    .compatible("version-added", "A version is added."),
    Check::VersionSet(|of| of.served, "is served now")
        .compatible("version-served", "A version that was not served is served."),
    Check::Kind(preferred)
        .warning("preferred-version-changed", &[Json, Kubectl], source::GOTCHAS)
        .about("Another version is the preferred one, while the old one is still served.")
        .harm("kubectl and clients that ask discovery for the version get objects of the new one")
        .instead(
            "Release the new version unpreferred first, so that a rollback finds clients that know both; scripts say \
             the version, as in kubectl get books.v1.library.example.com.",
        ),
    Check::Version(|change, notes| {
        if let (None, Some(warning)) = (&change.old.deprecated, &change.new.deprecated) {
            notes.here(format!("deprecated: {warning}"));
        }
    })
    .compatible("version-deprecated", "A version is deprecated: its answers have a warning."),
    Check::VersionUnset(|of| of.deprecated.is_some(), "no longer deprecated")
        .compatible("version-undeprecated", "A version is no longer deprecated."),
    Check::Version(|change, notes| {
        if let (Some(old), Some(new)) = (&change.old.deprecated, &change.new.deprecated)
            && old != new
        {
            notes.here(format!("the warning was {old:?}, is {new:?}"));
        }
    })
    .compatible("deprecation-warning-changed", "The warning of a deprecated version is another one."),
];

/// A version of a definition.
pub(super) fn version<'d>(definition: &'d Definition, name: &str) -> Option<&'d Version> {
    definition.versions.iter().find(|version| version.name == name).map(|version| &**version)
}

fn preferred(kind: &Kind<'_>, notes: &mut Notes) {
    let of = |definition: &Definition| {
        let served = definition.versions.iter().filter(|version| version.served);
        served.map(|version| version.name.clone()).min_by(|a, b| by_priority(a, b))
    };
    let (Some(old), Some(new)) = (of(kind.old), of(kind.new)) else { return };
    if old != new && version(kind.new, &old).is_some_and(|version| version.served) {
        notes.here(format!("the preferred version was {old}, is {new}"));
    }
}
