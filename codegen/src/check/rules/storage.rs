//! Rules about the version in which objects are stored.
use super::versions::version;
use crate::check::rule::{Check, Party::Stored, Rule, source};

pub(super) static RULES: [Rule; 3] = [
    Check::Kind(|kind, notes| {
        let stored = &kind.old.storage_version;
        if kind.is_stated && version(kind.new, stored).is_none() {
            // The kind is the place, since objects are lost whatever the version promised.
            notes.here(format!("the storage version {stored} is removed, and objects may be stored in it"));
        }
    })
    .breaking("storage-version-removed", &[Stored], source::CUSTOM)
    .about("The version in which objects were stored is removed.")
    .harm("objects that are stored in it cannot be read")
    .instead(
        "Store in another version first, and remove this one when all objects were written again \
         (kindsmith store migrate, or a StorageVersionMigration).",
    ),
    Check::Kind(|kind, notes| {
        let [old, new] = [kind.old, kind.new].map(|of| &of.storage_version);
        if kind.is_stated && old != new && version(kind.old, new).is_some() {
            notes.here(format!("the storage version was {old}, is {new}"));
        }
    })
    .warning("storage-version-changed", &[Stored], source::CUSTOM)
    .about("Objects are stored in another version, which was there before.")
    .harm("objects stay stored in the old version until they are written again, so it has to stay readable")
    .instead("Migrate the stored objects before the old version is removed."),
    Check::Kind(|kind, notes| {
        let new = &kind.new.storage_version;
        if kind.is_stated && version(kind.old, new).is_none() {
            notes.here(format!("the storage version is {new}, which did not exist"));
        }
    })
    .breaking("storage-version-new", &[Stored], source::GOTCHAS)
    .about("Objects are stored in a version that the old definition does not have.")
    .harm("a server of the old definition, after a rollback or during an upgrade, cannot read what is stored")
    .instead("Release the version first, and store in it with the next release."),
];
