//! Rules about the version in which objects are stored.
use super::versions::version;
use crate::check::rule::{
    Check,
    Level::{Breaking, Warning},
    Party::Stored,
    Rule, source,
};

pub(super) static RULES: [Rule; 3] = [
    Rule {
        name: "storage-version-removed",
        level: Breaking,
        breaks: &[Stored],
        about: "The version in which objects were stored is removed.",
        harm: "objects that are stored in it cannot be read",
        instead: "Store in another version first, and remove this one when all objects were written again \
                  (kindsmith store migrate, or a StorageVersionMigration).",
        source: source::CUSTOM,
        check: Check::Kind(|kind, notes| {
            let stored = &kind.old.storage_version;
            if kind.is_stated && version(kind.new, stored).is_none() {
                // The kind is the place, since objects are lost whatever the version promised.
                notes.here(format!("the storage version {stored} is removed, and objects may be stored in it"));
            }
        }),
    },
    Rule {
        name: "storage-version-changed",
        level: Warning,
        breaks: &[Stored],
        about: "Objects are stored in another version, which was there before.",
        harm: "objects stay stored in the old version until they are written again, so it has to stay readable",
        instead: "Migrate the stored objects before the old version is removed.",
        source: source::CUSTOM,
        check: Check::Kind(|kind, notes| {
            let [old, new] = [kind.old, kind.new].map(|of| &of.storage_version);
            if kind.is_stated && old != new && version(kind.old, new).is_some() {
                notes.here(format!("the storage version was {old}, is {new}"));
            }
        }),
    },
    Rule {
        name: "storage-version-new",
        level: Breaking,
        breaks: &[Stored],
        about: "Objects are stored in a version that the old definition does not have.",
        harm: "a server of the old definition, after a rollback or during an upgrade, cannot read what is stored",
        instead: "Release the version first, and store in it with the next release.",
        source: source::GOTCHAS,
        check: Check::Kind(|kind, notes| {
            let new = &kind.new.storage_version;
            if kind.is_stated && version(kind.old, new).is_none() {
                notes.here(format!("the storage version is {new}, which did not exist"));
            }
        }),
    },
];
