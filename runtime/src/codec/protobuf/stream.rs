//! Lists of messages that are already written, and the frames of watches.
use super::{EncodeError, LIST_META, wire::write_bytes, wire::write_message};
use crate::schema::Document;

/// The message of a list, without an envelope: its metadata, and items that are messages without envelopes.
///
/// # Errors
/// As [`Message::encode`](super::Message::encode), for the metadata.
pub fn list<I: AsRef<[u8]>>(metadata: &Document, items: impl IntoIterator<Item = I>) -> Result<Vec<u8>, EncodeError> {
    let mut out = Vec::new();
    write_message(1, &mut out, |out| LIST_META.encode(metadata, out)).map_err(|error| error.within("metadata"))?;
    for item in items {
        write_bytes(2, item.as_ref(), &mut out);
    }
    Ok(out)
}

/// A frame of a watch: four bytes of its length, the largest first, then the event, which has its type (`ADDED`,
/// `BOOKMARK`, `ERROR` …) and an object in its envelope.
pub fn watch_frame(event_type: &str, object: &[u8]) -> Vec<u8> {
    let mut raw = Vec::with_capacity(object.len() + 6);
    write_bytes(1, object, &mut raw);
    let mut out = Vec::with_capacity(raw.len() + event_type.len() + 16);
    out.extend_from_slice(&[0; 4]);
    write_bytes(1, event_type.as_bytes(), &mut out);
    write_bytes(2, &raw, &mut out);
    let length = u32::try_from(out.len() - 4).expect("an object is much smaller than four gigabytes");
    out[..4].copy_from_slice(&length.to_be_bytes());
    out
}
