//! The bodies and answers of operations.
use serde_json::Map;

use super::{components::SCHEMAS, members::Members};
use crate::{kind::endpoint::PatchType, schema::Document};

/// A parameter, a body or an answer itself, where the document has a reference to it.
pub(super) fn resolved<'d>(root: &'d Document, of: &'d Document) -> &'d Document {
    let target = of.get("$ref").and_then(Document::as_str).and_then(|target| target.strip_prefix('#'));
    target.and_then(|pointer| root.pointer(pointer)).unwrap_or(of)
}

/// The name of the schema of a body or an answer: that of the first media type with one.
pub(super) fn schema_name(of: &Document) -> Option<&str> {
    media_types(of)?.values().find_map(|media_type| reference(media_type.get("schema")?))
}

/// The types of patches that the body of an operation may be.
pub(super) fn patch_types(root: &Document, operation: Members<'_, '_>) -> Vec<PatchType> {
    let body = operation.get("requestBody").map(|body| resolved(root, body));
    let Some(content) = body.and_then(media_types) else { return Vec::new() };
    PatchType::ALL.into_iter().filter(|of| content.contains_key(of.media_type())).collect()
}

fn media_types(of: &Document) -> Option<&Map<String, Document>> {
    of.get("content")?.as_object()
}

/// The name of the schema that a schema refers to: by `$ref`, or by `allOf` with nothing else.
pub(super) fn reference(schema: &Document) -> Option<&str> {
    let alone = || schema.get("allOf")?.as_array().filter(|list| list.len() == 1)?[0].get("$ref");
    schema.get("$ref").or_else(alone)?.as_str()?.strip_prefix(SCHEMAS)
}
