//! The reader interface: how the cache gets the content of a stored value without knowing its kind.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use bytes::Bytes;

use super::{body::Body, texts::Texts};

/// The parts of a stored value that the cache needs.
#[derive(Clone, Debug)]
pub struct DecodedValue {
    /// The body, or the reason why the value could not be decoded. Such a value is kept and marked, never dropped.
    pub body: Result<Body, String>,
    /// `metadata.labels`, and the values of selectable fields other than metadata.name and metadata.namespace, in
    /// declared order. Absent values are empty.
    pub texts: Texts,
    /// True if the body differs from the stored one because the current schema changed it.
    pub renewed: bool,
    /// True if the value could not be decoded because its conversion by a webhook failed. It is read again later.
    pub awaits_conversion: bool,
}

impl DecodedValue {
    /// A value without labels and selectable fields, or one that cannot be decoded.
    pub fn plain(body: Result<Body, String>) -> Self {
        Self { body, texts: Texts::default(), renewed: false, awaits_conversion: false }
    }

    /// What a reader reads. It must not stop the store's writer, so a value at which it panics counts as unreadable.
    pub fn guarded(read: impl FnOnce() -> Self) -> Self {
        catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(|_| Self::plain(Err("the reader failed".to_owned())))
    }
}

/// Reads stored values of one resource. The kind layer provides it when it registers a resource.
pub trait Reader: Send + Sync {
    /// The resource's type meta as JSON members, with the comma: `"kind":"ConfigMap","apiVersion":"v1",`.
    fn type_meta(&self) -> &str;

    /// Reads a value at commit and at load. `key` is the full key in the store.
    fn read(&self, key: &str, value: &Bytes) -> DecodedValue;

    /// True if reading needs nothing but this process. Such values may be read on any thread, several at once; others
    /// are read by the thread that loads them.
    fn is_local(&self) -> bool {
        true
    }

    /// Reads past values, given as keys and values, on a thread that may block. A reader that waits for another server asks it
    /// for all of them together. The result has one for each, in their order.
    fn read_all(&self, values: &[(&str, &Bytes)]) -> Vec<DecodedValue> {
        values.iter().map(|(key, value)| DecodedValue::guarded(|| self.read(key, value))).collect()
    }
}

/// A shared reader.
pub type SharedReader = Arc<dyn Reader>;
