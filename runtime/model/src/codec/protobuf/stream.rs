//! Lists, written item by item, and the frames of watches.
use super::{
    EncodeError, LIST_META,
    envelope::{seal_end, seal_start},
    wire::{write_bytes, write_length, write_message},
};
use crate::schema::Document;

/// The field number of items in lists.
const ITEMS: u32 = 2;

/// Appends the beginning of a list in an envelope, up to its items. The envelope contains the length of the message, so
/// `items_length` is the sum of [`list_item_length`] over all items. [`list_item`] and then [`list_end`] follow.
///
/// # Errors
/// Like [`Message::encode`](super::Message::encode), for the metadata.
pub fn list_start(
    api_version: &str,
    kind: &str,
    metadata: &Document,
    items_length: usize,
    out: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    let mut start = Vec::new();
    write_message(1, &mut start, |out| LIST_META.encode(metadata, out)).map_err(|error| error.within("metadata"))?;
    seal_start(api_version, kind, start.len() + items_length, out);
    out.extend_from_slice(&start);
    Ok(())
}

/// Appends a message as an item of a list.
pub fn list_item(message: &[u8], out: &mut Vec<u8>) {
    write_bytes(ITEMS, message, out);
}

/// The number of bytes that [`list_item`] writes for a message of this length.
pub fn list_item_length(message_length: usize) -> usize {
    let mut start = Vec::with_capacity(11);
    write_length(ITEMS, message_length, &mut start);
    start.len() + message_length
}

/// Appends the end of a list in an envelope.
pub fn list_end(out: &mut Vec<u8>) {
    seal_end(out);
}

/// A frame of a watch: its length in four bytes, big-endian, then the event, which contains its type (`ADDED`,
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
