//! The reader interface: how the cache gets the content of a stored value without knowing its kind.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use bytes::Bytes;

use super::{Body, EventType, Object, Resource, Texts, tree::Tree};
use crate::{
    meta::Revision,
    storage::{Damage, Entry},
};

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
    /// for all of them together.
    fn read_all(&self, values: &[(&str, &Bytes)]) -> Vec<DecodedValue> {
        values.iter().map(|(key, value)| DecodedValue::guarded(|| self.read(key, value))).collect()
    }
}

/// A shared reader.
pub type SharedReader = Arc<dyn Reader>;

impl Resource {
    /// A key of the store, below the resource's prefix.
    pub(super) fn below<'k>(&self, key: &'k str) -> &'k str {
        key.strip_prefix(&*self.prefix).unwrap_or(key)
    }

    /// Renders a stored value.
    pub(super) fn render(
        &self,
        natural: EventType,
        key: &str,
        revision: Revision,
        value: Result<&Bytes, &Damage>,
    ) -> Object {
        render(&*self.reader, &self.prefix, natural, key, revision, value)
    }

    /// Renders loaded entries, which are in key order. Reuses objects that `known` has at the same revision, and has its
    /// indexes.
    pub(super) fn load(&self, entries: &[Entry], known: &Tree) -> Tree {
        let object = |entry: &Entry| {
            let known = known.get(self.below(&entry.key)).filter(|object| object.revision() == entry.revision);
            known.map_or_else(|| render_entry(&*self.reader, &self.prefix, entry), Arc::clone)
        };
        Tree::from_sorted(entries.iter().map(object)).indexed_like(known)
    }
}

/// Renders a loaded entry of the resource with a prefix.
pub(super) fn render_entry(reader: &dyn Reader, prefix: &str, entry: &Entry) -> Arc<Object> {
    Arc::new(render(reader, prefix, EventType::Added, &entry.key, entry.revision, entry.value.as_ref()))
}

/// Renders a stored value. A damaged value is kept and marked like one that cannot be decoded.
fn render(
    reader: &dyn Reader,
    prefix: &str,
    natural: EventType,
    key: &str,
    revision: Revision,
    value: Result<&Bytes, &Damage>,
) -> Object {
    let decoded = match value {
        Ok(value) => DecodedValue::guarded(|| reader.read(key, value)),
        Err(damage) => DecodedValue::plain(Err(damage.to_string())),
    };
    let below = key.strip_prefix(prefix).unwrap_or(key);
    Object::compose_as(natural, below, revision, reader.type_meta(), decoded)
}

#[cfg(test)]
mod tests {
    use std::sync::Weak;

    use super::*;
    use crate::{
        Limits,
        state::{SharedState, Slot},
        storage::Memory,
    };

    struct Whole;

    impl Reader for Whole {
        fn type_meta(&self) -> &'static str {
            r#""kind":"Thing","apiVersion":"v1","#
        }

        fn read(&self, _key: &str, value: &Bytes) -> DecodedValue {
            DecodedValue::plain(Ok(std::str::from_utf8(value).unwrap().into()))
        }
    }

    #[test]
    fn a_damaged_value_is_kept_and_marked_beside_intact_ones() {
        let entry = |name: &str, value| Entry { key: format!("/t/{name}").into(), value, revision: Revision(7) };
        let body = Bytes::from_static(br#"{"metadata":{"name":"a"}}"#);
        let entries = [entry("a", Ok(body)), entry("b", Err(Damage::Altered))];
        let shared = SharedState::new(Arc::new(Memory::new()), Limits::default(), Revision(0));
        let slot = Slot { number: 0, id: 1 };
        let resource = Resource::new(Arc::new(shared), Weak::new(), slot, "/t/".into(), Arc::new(Whole));
        let tree = resource.load(&entries, &Tree::default());
        assert_eq!(tree.get("a").unwrap().unreadable(), None);
        let damaged = tree.get("b").unwrap();
        assert_eq!(damaged.unreadable(), Some("the stored bytes are damaged: their checksum is wrong"));
        assert_eq!((damaged.key(), damaged.revision()), ("b", Revision(7)));
    }
}
