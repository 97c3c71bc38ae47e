//! CBOR (RFC 8949) as in kube-apiserver. No I/O.
//!
//! Output: every document starts with the CBOR tag, text and keys are byte strings, keys are in the bytewise order of
//! their encodings, and integers and floats have the shortest form. Fields declared as `byte` are byte strings with the
//! tag for base64. So equal documents have equal bytes.
//!
//! Input: any well-formed item whose value JSON can represent. Byte strings are text, or have the meaning of the tag
//! around them; lengths may be indefinite; unknown tags are ignored. Refused are duplicate keys, keys other than text,
//! integers outside `i64`, NaN and infinities, `undefined` and other simple values. Declared lengths never cause
//! allocations, only actual data does.

use super::{DecodeError, DecodedDocument, Limits};
use crate::schema::{At, Document, Schema};

mod half;
mod read;
#[cfg(test)]
mod tests;
mod write;

use write::Writer;

/// The beginning of every document: the tag 55799, which marks CBOR.
pub const MARK: [u8; 3] = [0xd9, 0xd9, 0xf7];

/// Decodes CBOR, with or without the tag.
///
/// # Errors
/// `DecodeError` if it is malformed, has no counterpart in JSON, is nested too deeply, or is followed by other data.
pub fn decode(bytes: &[u8], limits: &Limits) -> Result<DecodedDocument, DecodeError> {
    read::Reader::new(bytes, limits).document()
}

/// Appends a document.
pub fn encode(document: &Document, out: &mut Vec<u8>) {
    out.extend_from_slice(&MARK);
    Writer::new(out).value(At::anything(), document);
}

/// Appends an object without the tag: of a compiled kind, with byte strings for byte fields of the schema. Without a schema
/// all strings are text.
pub fn item(root: Option<&Schema>, object: &Document, out: &mut Vec<u8>) {
    Writer::new(out).value(root.map_or_else(At::anything, At::of), object);
}

/// Appends the beginning of a list; `items` items follow, then [`list_end`].
pub fn list_start(kind: &str, items: usize, out: &mut Vec<u8>) {
    out.extend_from_slice(&MARK);
    let mut writer = Writer::new(out);
    writer.map(4);
    writer.text("kind");
    writer.text(kind);
    writer.text("items");
    writer.array(items);
}

/// Appends the end of a list.
pub fn list_end(api_version: &str, metadata: &Document, out: &mut Vec<u8>) {
    let mut writer = Writer::new(out);
    writer.text("metadata");
    writer.value(At::anything(), metadata);
    writer.text("apiVersion");
    writer.text(api_version);
}

/// Appends the beginning of a watch event; its tagged object follows and ends it.
pub fn event_start(event_type: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(&MARK);
    let mut writer = Writer::new(out);
    writer.map(2);
    writer.text("type");
    writer.text(event_type);
    writer.text("object");
}
