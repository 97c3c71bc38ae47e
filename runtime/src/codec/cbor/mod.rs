//! CBOR (RFC 8949) as kube-apiserver speaks it. No I/O.
//!
//! Out: every document begins with the tag that marks CBOR, text and keys are byte strings, keys stand in the bytewise
//! order of their encodings, integers and floats take the fewest bytes that hold them. What a kind's schema declares as
//! `byte` is bytes under the tag that asks for base64. So equal documents are equal bytes.
//!
//! In: any well-formed item whose value JSON could hold. Byte strings are text, or what the tag around them asks to be made
//! of them; lengths may be indefinite; unknown tags are passed over. Refused are duplicate keys, keys that are no text,
//! integers outside `i64`, NaN and infinities, `undefined` and other simple values. Nothing is allocated for what a length
//! claims, only for what is there.

use super::{DecodeError, Decoded, Limits};
use crate::schema::{At, Document, Schema};

mod half;
mod read;
#[cfg(test)]
mod tests;
mod write;

use write::Writer;

/// What every document begins with: the tag 55799, which means nothing but that CBOR follows.
pub const MARK: [u8; 3] = [0xd9, 0xd9, 0xf7];

/// Decodes CBOR; the mark may be missing.
///
/// # Errors
/// [`DecodeError`] for what is not well formed, has no counterpart in JSON, is nested too deeply, or is followed by more.
pub fn decode(bytes: &[u8], limits: &Limits) -> Result<Decoded, DecodeError> {
    read::Reader::new(bytes, limits).document()
}

/// Appends a document.
pub fn encode(document: &Document, out: &mut Vec<u8>) {
    out.extend_from_slice(&MARK);
    Writer::new(out).value(At::anything(), document);
}

/// Appends an object whose kind's compiled type holds bytes where the schema says so.
pub fn encode_object(root: &Schema, object: &Document, out: &mut Vec<u8>) {
    out.extend_from_slice(&MARK);
    item(Some(root), object, out);
}

/// Appends an object without the mark, as it stands in a list. Without a schema no text stands for bytes.
pub fn item(root: Option<&Schema>, object: &Document, out: &mut Vec<u8>) {
    Writer::new(out).value(root.map_or_else(At::anything, At::of), object);
}

/// Appends what a list begins with, up to its items: `items` of them follow, then [`list_end`].
pub fn list_start(kind: &str, items: usize, out: &mut Vec<u8>) {
    out.extend_from_slice(&MARK);
    let mut writer = Writer::new(out);
    writer.map(4);
    writer.text("kind");
    writer.text(kind);
    writer.text("items");
    writer.array(items);
}

/// Appends what a list ends with.
pub fn list_end(api_version: &str, metadata: &Document, out: &mut Vec<u8>) {
    let mut writer = Writer::new(out);
    writer.text("metadata");
    writer.value(At::anything(), metadata);
    writer.text("apiVersion");
    writer.text(api_version);
}

/// Appends what a watch event begins with; its object follows, with the mark, and ends it.
pub fn event_start(event_type: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(&MARK);
    let mut writer = Writer::new(out);
    writer.map(2);
    writer.text("type");
    writer.text(event_type);
    writer.text("object");
}
