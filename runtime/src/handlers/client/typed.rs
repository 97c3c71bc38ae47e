//! Between documents and the Rust types of kinds.
use std::sync::Arc;

use super::InvalidObject;
use crate::{
    cache,
    handlers::{Object, Refusal, Result, decode, encode},
    kind::registry::Served,
    schema::Document,
    verbs::Answer,
};

/// A change of a type as a change of documents.
pub(in crate::handlers) fn on_type<K: Object>(
    change: impl Fn(&mut K) -> Result<()> + Send + Sync,
) -> impl Fn(&mut Document) -> Result<()> + Send + Sync {
    move |document| {
        let mut value: K = decode(document)?;
        let before = encode(&value)?;
        change(&mut value)?;
        crate::kind::hook::apply_difference(document, &before, encode(&value)?);
        Ok(())
    }
}

/// What a verb answered, as a document.
pub(super) fn answered(answer: Answer) -> Result<Document> {
    match answer {
        Answer::Object(object) => parsed(&object),
        Answer::Document(document) => Ok(document),
    }
}

/// An object as a document.
pub(in crate::handlers) fn parsed(object: &cache::Object) -> Result<Document> {
    serde_json::from_slice(&object.json())
        .map_err(|error| Refusal::internal(format!("{:?} cannot be read: {error}", object.key())))
}

/// A document as its type.
pub(super) fn typed<K: Object>(document: &Document) -> Result<K> {
    decode(document)
}

/// A stored object as the type of a version, for a caller that goes through so many bytes of objects.
///
/// # Errors
/// Where it has no form in that version, or its type does not decode it.
pub(super) fn decode_object<K: Object>(
    served: &Served,
    object: &Arc<cache::Object>,
    bytes: usize,
) -> std::result::Result<K, InvalidObject> {
    let decoded = match served.show_among(object, bytes) {
        Ok(shown) => serde_json::from_slice(&shown.json()).map_err(|error| error.to_string()),
        Err(reason) => Err(format!("object not convertible to {}: {reason}", served.kind.group_version)),
    };
    decoded.map_err(|reason| InvalidObject::of(served, object, reason))
}
