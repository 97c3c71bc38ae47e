//! PartialObjectMetadata: an object's metadata, cut out of the cached bytes.

use bytes::BufMut;

use crate::cache::Object;

const START: &[u8] = b"{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":\"";
const METADATA: &[u8] = b"\",\"metadata\":";

/// Appends a PartialObjectMetadata of an object.
pub(super) fn write(out: &mut impl BufMut, object: &Object, meta_version: &str) {
    out.put_slice(START);
    out.put_slice(meta_version.as_bytes());
    out.put_slice(METADATA);
    out.put_slice(object.metadata_bytes());
    out.put_slice(b"}");
}

/// The number of bytes that [`write`] appends.
pub(super) fn length(object: &Object, meta_version: &str) -> usize {
    START.len() + meta_version.len() + METADATA.len() + object.metadata_bytes().len() + 1
}
