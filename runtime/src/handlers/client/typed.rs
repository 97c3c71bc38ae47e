//! Conversion between documents and the Rust types of kinds.
use std::sync::Arc;

use super::InvalidObject;
use crate::{
    cache, codec,
    handlers::{Object, Refusal, Result, decode, encode},
    kind::{Kind, difference::apply_difference},
    registry::Registered,
    schema::Document,
    verbs::Answer,
};

/// Wraps a change of a type as a change of documents of its kind.
pub(in crate::handlers) fn on_type<K: Object>(
    kind: &Kind,
    change: impl Fn(&mut K) -> Result<()> + Send + Sync,
) -> impl Fn(&mut Document) -> Result<()> + Send + Sync {
    let schema = kind.version.schema.clone();
    move |document| {
        let mut value: K = decode(document)?;
        let before = encode(&value)?;
        change(&mut value)?;
        apply_difference(&schema, document, &before, encode(&value)?);
        Ok(())
    }
}

/// The answer of a verb as a document.
pub(super) fn answered(answer: Answer) -> Result<Document> {
    match answer {
        Answer::Object(object) => parsed(&object),
        Answer::Document(document) => Ok(document),
    }
}

/// An object as a document.
pub(in crate::handlers) fn parsed(object: &cache::Object) -> Result<Document> {
    codec::from_written(&object.json())
        .map_err(|error| Refusal::internal(format!("{:?} cannot be read: {error}", object.key())))
}

/// Decodes a document into its type.
pub(super) fn typed<K: Object>(document: &Document) -> Result<K> {
    decode(document)
}

/// Decodes a stored object into the type of a version; the caller processes this many bytes of objects. Fails if it
/// cannot be converted to that version, or if its type cannot decode it.
pub(super) fn decode_object<K: Object>(
    served: &Registered,
    object: &Arc<cache::Object>,
    bytes: usize,
) -> std::result::Result<K, InvalidObject> {
    let decoded = match served.show_among(object, bytes) {
        Ok(shown) => codec::from_written(&shown.json()).map_err(|error| error.to_string()),
        Err(reason) => Err(format!("object not convertible to {}: {reason}", served.kind.group_version)),
    };
    decoded.map_err(|reason| InvalidObject::of(object, reason))
}
