//! The facts that garbage collection needs about an object, read from its metadata only.
use std::sync::Arc;

use serde::Deserialize;

use crate::{
    cache::Object,
    meta::{OwnerReference, options::Propagation},
};

/// The finalizer that holds an owner until its dependents are orphaned.
pub(super) const ORPHAN: &str = "orphan";
/// The finalizer that holds an owner until its dependents are deleted.
pub(super) const FOREGROUND: &str = "foregroundDeletion";

/// A uid, which identifies an object independently of its name.
pub(super) type Uid = Arc<str>;

/// An object's owners and deletion state.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Facts {
    pub uid: Uid,
    pub owners: Vec<OwnerReference>,
    pub finalizers: Vec<String>,
    /// True if its deletion was requested.
    pub deleted: bool,
}

/// The parts of metadata that are read.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Wire {
    uid: String,
    owner_references: Vec<OwnerReference>,
    finalizers: Vec<String>,
    deletion_timestamp: Option<serde::de::IgnoredAny>,
}

impl Facts {
    /// Reads an object's metadata. Unreadable metadata gives no owners and no deletion, so that nothing is done.
    pub(super) fn of(object: &Object) -> Self {
        let wire: Wire = serde_json::from_slice(object.metadata_bytes()).unwrap_or_default();
        Self {
            uid: wire.uid.into(),
            owners: wire.owner_references,
            finalizers: wire.finalizers,
            deleted: wire.deletion_timestamp.is_some(),
        }
    }

    /// The propagation policy that the object's finalizers express; background by default.
    pub(super) fn policy(&self) -> Propagation {
        let has = |name: &str| self.finalizers.iter().any(|finalizer| finalizer == name);
        match (has(ORPHAN), has(FOREGROUND)) {
            (true, _) => Propagation::Orphan,
            (false, true) => Propagation::Foreground,
            (false, false) => Propagation::Background,
        }
    }

    /// The collector's work that a deleted object waits for.
    pub(super) fn waits_for(&self) -> Option<Propagation> {
        Some(self.policy()).filter(|policy| self.deleted && *policy != Propagation::Background)
    }
}

/// True if an object may have owners or may be deleted. Most objects have neither, and parsing them would cost more
/// than this search. A member's name with its closing quote cannot occur inside a string, where quotes are escaped.
pub(super) fn is_telling(object: &Object) -> bool {
    std::str::from_utf8(object.metadata_bytes())
        .is_ok_and(|text| text.contains("\"ownerReferences\":") || text.contains("\"deletionTimestamp\":"))
}
