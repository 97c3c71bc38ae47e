//! The reader: how the cache learns what a stored value says without knowing its kind.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use bytes::Bytes;

use super::{Body, EventType, Object, Texts, tree::Tree};
use crate::{
    meta::Revision,
    storage::{Damage, Entry},
};

/// What the kind layer reads out of a stored value for the cache.
#[derive(Clone, Debug)]
pub struct Reading {
    /// The body, or why the value could not be decoded; it is kept, marked and never dropped.
    pub body: Result<Body, String>,
    /// `metadata.labels`, and the values of the selectable fields beyond metadata.name and metadata.namespace, in the order
    /// that the kind layer gives them; absent ones are empty.
    pub texts: Texts,
    /// The body is not what is stored, but what today's schema makes of it.
    pub renewed: bool,
}

impl Reading {
    /// What has no labels and no selectable fields, or cannot be decoded.
    pub fn plain(body: Result<Body, String>) -> Self {
        Self { body, texts: Texts::default(), renewed: false }
    }
}

/// Reads stored values of one resource; given to the cache by the kind layer when a resource is registered.
pub trait Reader: Send + Sync {
    /// The resource's type meta as JSON members, with the comma: `"kind":"ConfigMap","apiVersion":"v1",`.
    fn type_meta(&self) -> &str;

    /// Reads a value at commit and at load. The key is the store's, prefix and all.
    fn read(&self, key: &str, value: &Bytes) -> Reading;
}

/// A reader shared by the cache's parts.
pub type SharedReader = Arc<dyn Reader>;

/// Renders a stored value; one that is damaged is kept and marked, as one that cannot be decoded is.
pub(super) fn render(
    reader: &SharedReader,
    prefix: &str,
    natural: EventType,
    key: &str,
    revision: Revision,
    value: Result<&Bytes, Damage>,
) -> Object {
    // A reader that panics must not take the store's writer with it; the value counts as unreadable.
    let reading = match value {
        Ok(value) => catch_unwind(AssertUnwindSafe(|| reader.read(key, value)))
            .unwrap_or_else(|_| Reading::plain(Err("the reader failed".to_owned()))),
        Err(damage) => Reading::plain(Err(damage.to_string())),
    };
    let below = key.strip_prefix(prefix).unwrap_or(key);
    Object::compose_as(natural, below, revision, reader.type_meta(), reading)
}

/// Renders loaded entries, which are in key order. Objects that `known` has at the same revision are shared.
pub(super) fn load(reader: &SharedReader, prefix: &str, entries: &[Entry], known: &Tree) -> Tree {
    let object = |entry: &Entry| {
        let below = entry.key.strip_prefix(prefix).unwrap_or(&entry.key);
        match known.get(below).filter(|object| object.revision() == entry.revision) {
            Some(object) => Arc::clone(object),
            None => Arc::new(render(
                reader,
                prefix,
                EventType::Added,
                &entry.key,
                entry.revision,
                entry.value.as_ref().map_err(|damage| *damage),
            )),
        }
    };
    Tree::from_sorted(&entries.iter().map(object).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Whole;

    impl Reader for Whole {
        fn type_meta(&self) -> &'static str {
            r#""kind":"Thing","apiVersion":"v1","#
        }

        fn read(&self, _key: &str, value: &Bytes) -> Reading {
            Reading::plain(Ok(std::str::from_utf8(value).unwrap().into()))
        }
    }

    #[test]
    fn a_damaged_value_is_kept_and_marked_beside_those_that_are_whole() {
        let entry = |name: &str, value| Entry { key: format!("/t/{name}").into(), value, revision: Revision(7) };
        let body = Bytes::from_static(br#"{"metadata":{"name":"a"}}"#);
        let entries = [entry("a", Ok(body)), entry("b", Err(Damage::Altered))];
        let reader: SharedReader = Arc::new(Whole);
        let tree = load(&reader, "/t/", &entries, &Tree::default());
        assert_eq!(tree.get("a").unwrap().unreadable(), None);
        let damaged = tree.get("b").unwrap();
        assert_eq!(damaged.unreadable(), Some("the stored bytes are damaged: their checksum is wrong"));
        assert_eq!((damaged.key(), damaged.revision()), ("b", Revision(7)));
    }
}
