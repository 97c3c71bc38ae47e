//! The keys of a resource in the store, and how the values under them become objects.

use std::sync::Arc;

use bytes::Bytes;

use super::{
    object::{EventType, Object},
    reader::{DecodedValue, SharedReader},
    tree::Tree,
};
use crate::{
    meta::Revision,
    storage::{Damage, Entry},
};

/// The keys below a prefix, and the reader of their values.
#[derive(Clone)]
pub(super) struct Keyspace {
    /// With a trailing slash.
    pub(super) prefix: Arc<str>,
    pub(super) reader: SharedReader,
}

impl Keyspace {
    pub(super) fn new(prefix: &str, reader: SharedReader) -> Self {
        let prefix = if prefix.ends_with('/') { prefix.into() } else { format!("{prefix}/").into() };
        Self { prefix, reader }
    }

    /// A key of the store, below the prefix.
    pub(super) fn below<'k>(&self, key: &'k str) -> &'k str {
        key.strip_prefix(&*self.prefix).unwrap_or(key)
    }

    /// Renders a stored value. A damaged value is kept and marked like one that cannot be decoded.
    pub(super) fn render(
        &self,
        natural: EventType,
        key: &str,
        revision: Revision,
        value: Result<&Bytes, &Damage>,
    ) -> Object {
        let decoded = match value {
            Ok(value) => DecodedValue::guarded(|| self.reader.read(key, value)),
            Err(damage) => DecodedValue::plain(Err(damage.to_string())),
        };
        Object::compose_as(natural, self.below(key), revision, self.reader.type_meta(), decoded)
    }

    /// Renders a loaded entry.
    pub(super) fn render_entry(&self, entry: &Entry) -> Arc<Object> {
        Arc::new(self.render(EventType::Added, &entry.key, entry.revision, entry.value.as_ref()))
    }

    /// Renders loaded entries, which are in key order. Reuses objects that `known` has at the same revision, and has its
    /// indexes.
    pub(super) fn load(&self, entries: &[Entry], known: &Tree) -> Tree {
        let object = |entry: &Entry| {
            let known = known.get(self.below(&entry.key)).filter(|object| object.revision() == entry.revision);
            known.map_or_else(|| self.render_entry(entry), Arc::clone)
        };
        Tree::from_sorted(entries.iter().map(object)).indexed_like(known)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reader::Reader;

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
        let tree = Keyspace::new("/t", Arc::new(Whole)).load(&entries, &Tree::default());
        assert_eq!(tree.get("a").unwrap().unreadable(), None);
        let damaged = tree.get("b").unwrap();
        assert_eq!(damaged.unreadable(), Some("the stored bytes are damaged: their checksum is wrong"));
        assert_eq!((damaged.key(), damaged.revision()), ("b", Revision(7)));
    }
}
