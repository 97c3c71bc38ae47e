//! PartialObjectMetadata: an object's metadata alone, cut out of the cached bytes.

use crate::cache::Object;

/// Appends a PartialObjectMetadata of an object.
pub fn write(out: &mut Vec<u8>, object: &Object, meta_version: &str) {
    let metadata = object.metadata();
    out.reserve(metadata.len() + 80);
    out.extend_from_slice(b"{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":\"");
    out.extend_from_slice(meta_version.as_bytes());
    out.extend_from_slice(b"\",\"metadata\":");
    out.extend_from_slice(&metadata);
    out.push(b'}');
}
