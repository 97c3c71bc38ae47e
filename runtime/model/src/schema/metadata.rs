//! The fields that all objects have, and that are therefore not part of a kind's schema: one instance for all kinds.
use std::sync::{Arc, LazyLock};

use super::{ApiType, Properties, Schema, model::Type};
use crate::meta::ObjectMeta;

/// The schema of `metadata`.
pub static METADATA: LazyLock<Schema> = LazyLock::new(|| {
    ObjectMeta::DECLARATION.schema(true, true).expect("the declaration of ObjectMeta is part of this crate")
});

/// The fields of each object besides the fields of its kind.
pub(super) static OBJECT: LazyLock<Object> = LazyLock::new(|| {
    // These are checked where objects are decoded.
    let text = Arc::new(Schema { kind: Type::String, preserve_unknown: true, ..Schema::default() });
    let mut metadata = METADATA.clone();
    // It is obsolete, but clients may still send it.
    metadata.properties.insert("selfLink".to_owned(), Schema::default());
    let metadata = Arc::new(metadata);
    let properties = [("apiVersion", text.clone()), ("kind", text), ("metadata", metadata.clone())];
    Object { properties: properties.map(|(name, schema)| (name.to_owned(), schema)).into(), metadata }
});

/// See [`OBJECT`].
pub(super) struct Object {
    pub(super) properties: Properties,
    metadata: Arc<Schema>,
}

impl Object {
    /// The schema of `metadata`, with the obsolete fields that are read and not kept.
    pub(super) fn metadata(&self) -> &Schema {
        &self.metadata
    }
}
