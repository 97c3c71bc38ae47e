//! JSON Merge Patch (RFC 7386).
use serde_json::Map;

use super::{PatchError, wrong_type};
use crate::{
    codec::{self, DecodedDocument, Limits},
    schema::Document,
};

/// Parses a merge patch, which must be a JSON object for API objects. Also used for strategic merge patches.
///
/// # Errors
/// [`PatchError::Malformed`].
pub fn parse(bytes: &[u8]) -> Result<DecodedDocument, PatchError> {
    let decoded = codec::decode(bytes, &Limits::PATCH).map_err(|error| PatchError::Malformed(error.to_string()))?;
    if decoded.document.is_object() {
        return Ok(decoded);
    }
    Err(PatchError::Malformed(wrong_type(&decoded.document, "map[string]interface {}")))
}

/// Applies a merge patch: objects are merged, `null` removes, anything else replaces.
pub fn apply(document: &mut Document, patch: &Document) {
    let Document::Object(changes) = patch else {
        document.clone_from(patch);
        return;
    };
    if !document.is_object() {
        *document = Document::Object(Map::new());
    }
    let Document::Object(fields) = document else { return };
    for (name, change) in changes {
        if change.is_null() {
            fields.remove(name);
        } else {
            apply(fields.entry(name.as_str()).or_insert(Document::Null), change);
        }
    }
}
