//! Conversion between documents and the Rust types of kinds.
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::InvalidObject;
use crate::{
    Resource, codec,
    kind::{Kind, difference::apply_difference},
    meta::{ObjectMeta, Refusal, refusal::Result},
    schema::Document,
};

#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be used as a handler's input or output",
    label = "not declared as a kind",
    note = "declare it: `#[derive(Resource)] #[resource(group = \"example.com\", version = \"v1\")]`"
)]
/// A kind's Rust type, for handlers and the typed client. Every `#[derive(Resource)]` implements it.
pub trait Object: Resource + Serialize + DeserializeOwned + Send + Sync + 'static {}

#[diagnostic::do_not_recommend]
impl<T: Resource + Serialize + DeserializeOwned + Send + Sync + 'static> Object for T {}

/// Decodes a document as its type. The schema was already checked, so an error here is a fault of the declaration.
///
/// # Errors
/// 500 if the type cannot decode it.
pub fn decode<T: DeserializeOwned>(document: &Document) -> Result<T> {
    T::deserialize(document).map_err(|error| Refusal::internal(format!("the document does not fit its type: {error}")))
}

/// Encodes a value of a type as a document.
///
/// # Errors
/// 500 if the type cannot be encoded.
pub fn encode<T: Serialize>(value: &T) -> Result<Document> {
    serde_json::to_value(value).map_err(|error| Refusal::internal(format!("the answer cannot be encoded: {error}")))
}

/// Wraps a change of a type as a change of documents of its kind.
pub fn on_type<K, F>(kind: &Kind, change: F) -> impl Fn(&mut Document) -> Result<()> + Send + Sync + use<K, F>
where
    K: Object,
    F: Fn(&mut K) -> Result<()> + Send + Sync,
{
    let schema = kind.version.schema.clone();
    move |document| {
        let mut value: K = decode(document)?;
        let before = encode(&value)?;
        change(&mut value)?;
        apply_difference(&schema, document, &before, encode(&value)?);
        Ok(())
    }
}

/// Decodes the JSON of an object, which is valid in its kind's schema.
pub(super) fn decode_json<K: Object>(json: &[u8]) -> std::result::Result<K, InvalidObject> {
    #[derive(Deserialize)]
    struct PartialObjectMetadata {
        metadata: ObjectMeta,
    }
    codec::from_written(json).map_err(|error| {
        let partial = codec::from_written(json)
            .map_or_else(|_| ObjectMeta::default(), |partial: PartialObjectMetadata| partial.metadata);
        InvalidObject { namespace: partial.namespace, name: partial.name, reason: error.to_string() }
    })
}
