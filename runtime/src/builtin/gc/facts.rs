//! What garbage collection wants to know of an object, read from its metadata alone.
use std::sync::Arc;

use serde::Deserialize;

use crate::{
    cache::Object,
    meta::{OwnerReference, options::Propagation},
};

/// The finalizer that waits until dependents have forgotten their owner.
pub(super) const ORPHAN: &str = "orphan";
/// The finalizer that waits until dependents are gone.
pub(super) const FOREGROUND: &str = "foregroundDeletion";

/// A uid: what an object is known by, whatever its name.
pub(super) type Uid = Arc<str>;

/// What an object says of its owners and of its own end.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Facts {
    /// Its uid.
    pub uid: Uid,
    /// Its owners.
    pub owners: Vec<OwnerReference>,
    /// Its finalizers.
    pub finalizers: Vec<String>,
    /// Its deletion has been asked for.
    pub deleted: bool,
}

/// The members of metadata that are read.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Wire {
    uid: String,
    owner_references: Vec<OwnerReference>,
    finalizers: Vec<String>,
    deletion_timestamp: Option<serde::de::IgnoredAny>,
}

impl Facts {
    /// Reads an object's metadata. What cannot be read says nothing, so that nothing is done about it.
    pub fn of(object: &Object) -> Self {
        let wire: Wire = serde_json::from_slice(&object.metadata()).unwrap_or_default();
        Self {
            uid: wire.uid.into(),
            owners: wire.owner_references,
            finalizers: wire.finalizers,
            deleted: wire.deletion_timestamp.is_some(),
        }
    }

    /// What is to happen to dependents, as the object's finalizers say it; in the background where they do not.
    pub fn policy(&self) -> Propagation {
        let has = |name: &str| self.finalizers.iter().any(|finalizer| finalizer == name);
        match (has(ORPHAN), has(FOREGROUND)) {
            (true, _) => Propagation::Orphan,
            (false, true) => Propagation::Foreground,
            (false, false) => Propagation::Background,
        }
    }

    /// What a deleted object waits for that garbage collection does.
    pub fn waits_for(&self) -> Option<Propagation> {
        Some(self.policy()).filter(|policy| self.deleted && *policy != Propagation::Background)
    }
}

/// Whether an object may have owners or be on its way out: most are neither, and reading them would cost more than this
/// search. A member's name with its closing quote stands in no text but as that, where quotes are escaped.
pub(super) fn is_telling(object: &Object) -> bool {
    let metadata = object.metadata();
    std::str::from_utf8(&metadata)
        .is_ok_and(|text| text.contains("\"ownerReferences\":") || text.contains("\"deletionTimestamp\":"))
}
