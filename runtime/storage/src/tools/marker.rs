//! The note of an unfinished copy in its target, with which a later run goes on.

use serde::{Deserialize, Serialize};

/// How far a copy is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Marker {
    /// The source.
    pub source: String,
    /// The last key that is copied. `None` at the beginning, and once all are.
    pub key: Option<String>,
    /// The number of keys up to it.
    pub done: u64,
    /// True once all keys were copied, each as it was at `applied` or later.
    pub filled: bool,
    /// The revision up to which changes are applied. Before all keys are copied, the revision at which that began.
    pub applied: u64,
}

impl Marker {
    pub(super) fn new(source: String) -> Self {
        Self { source, key: None, done: 0, filled: false, applied: 0 }
    }

    pub(super) fn to_text(&self) -> String {
        serde_json::to_string(self).expect("texts, numbers and booleans")
    }

    pub(super) fn parse(text: &str) -> Result<Self, String> {
        serde_json::from_str(text).map_err(|error| format!("how far the copy is cannot be read: {error}"))
    }
}
