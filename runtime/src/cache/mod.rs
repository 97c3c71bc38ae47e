//! The cache: the newest state of every resource as rendered bytes, ordered snapshots, the window of past changes, and
//! the fan-out to watchers. Knows keys, bytes and indexes; never a kind.

use std::sync::Arc;
use bytes::Bytes;

/// What the kind layer reads out of a stored value for the cache.
#[derive(Clone, Debug, Default)]
pub struct Reading {
    /// The canonical body: a JSON object without kind, apiVersion and resourceVersion, beginning with
    /// `{"metadata":{"` (metadata comes first and is never empty); other keys are sorted.
    pub body: Bytes,
    /// `metadata.labels`.
    pub labels: Vec<(Box<str>, Box<str>)>,
    /// Values of the kind's selectable fields beyond metadata.name and metadata.namespace, in the order in which the
    /// kind declares them; absent ones are empty.
    pub fields: Vec<Box<str>>,
    /// Why the value could not be decoded; it is kept, marked and never dropped.
    pub unreadable: Option<String>,
}

/// Reads stored values of one resource; given to the cache by the kind layer when a resource is registered.
pub trait Reader: Send + Sync {
    /// The resource's type meta as JSON members, with the comma: `"kind":"ConfigMap","apiVersion":"v1",`.
    fn type_meta(&self) -> &str;

    /// Names of the selectable fields that [`Reading::fields`] holds, such as `spec.color`.
    fn selectable(&self) -> &[String];

    /// Reads a value at commit and at load.
    fn read(&self, key: &str, value: &Bytes) -> Reading;
}

/// A reader shared by the cache's parts.
pub type SharedReader = Arc<dyn Reader>;
