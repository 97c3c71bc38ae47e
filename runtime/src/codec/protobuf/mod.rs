//! Protobuf in and out, as clients of Go speak it: the envelope, and messages that are told from documents, and documents
//! from messages, by the field numbers that the schema declares. No I/O.
//!
//! **What is written.** Fields in the order of their numbers, entries of maps in the order of their keys. A field is in
//! the message when it is in the document; of lists and maps without entries there is nothing. Where a field's zero and
//! its absence mean the same ([`Schema::zero_is_absent`](crate::schema::Schema): fields of built-in kinds and of the types of
//! `meta` that are no `Option`, pointers in Go), it is always written, as Go writes it, and a zero that is read is absent.
//! Times are seconds and nanoseconds, raw JSON and `fieldsV1` are JSON text in a message, and so are quantities.
//!
//! **What is read** are the documents that the same object would have been as JSON. Fields with numbers that the schema does
//! not know are dropped, and told by their numbers among the faults, for a message names no fields.
//!
//! Messages may nest as deep as JSON, and no deeper than the schema. What a message may become in memory is bounded, too.
use std::fmt;

use serde_json::Map;

use super::{Decoded, Limits};
use crate::{meta::go, schema::Document};

mod envelope;
mod layout;
mod read;
mod shared;
mod stream;
#[cfg(test)]
mod tests;
mod values;
mod wire;
mod write;

pub use envelope::{Envelope, open, seal};
pub use layout::Message;
pub use shared::{
    API_GROUP, API_GROUP_LIST, API_RESOURCE_LIST, API_VERSIONS, DELETE_OPTIONS, LIST_META, PARTIAL_OBJECT_METADATA,
    SCALE, STATUS,
};
pub use stream::{list_end, list_item, list_item_length, list_start, watch_frame};

/// The media type of bodies in an envelope.
pub const MEDIA_TYPE: &str = "application/vnd.kubernetes.protobuf";

/// Why bytes are not a message of a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodeError {
    /// The field, such as `spec.replicas`; empty for the message itself.
    pub place: String,
    /// What is wrong with it.
    pub message: String,
}

impl DecodeError {
    fn new(message: impl Into<String>) -> Self {
        Self { place: String::new(), message: message.into() }
    }

    /// The same error, told from one message further out.
    fn within(mut self, name: &str) -> Self {
        self.place = if self.place.is_empty() { name.to_owned() } else { format!("{name}.{}", self.place) };
        self
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.place.is_empty() {
            write!(f, "{}: ", self.place)?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for DecodeError {}

/// Why a document is not a message of a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncodeError {
    /// The field, such as `spec.replicas`; empty for the object itself.
    pub place: String,
    /// What is wanted there, such as `a whole number`.
    pub wanted: &'static str,
}

impl EncodeError {
    fn new(wanted: &'static str) -> Self {
        Self { place: String::new(), wanted }
    }

    fn within(mut self, name: &str) -> Self {
        self.place = if self.place.is_empty() { name.to_owned() } else { format!("{name}.{}", self.place) };
        self
    }
}

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: the message has {} here, and the document something else", self.place, self.wanted)
    }
}

impl std::error::Error for EncodeError {}

/// An object or an answer in an envelope, with the apiVersion and kind that the document carries.
///
/// # Errors
/// As [`Message::encode`].
pub fn encode(message: &Message, document: &Document) -> Result<Vec<u8>, EncodeError> {
    let mut bytes = Vec::new();
    message.encode(document, &mut bytes)?;
    let text = |name: &str| document.get(name).and_then(Document::as_str).unwrap_or("");
    Ok(seal(text("apiVersion"), text("kind"), &bytes))
}

/// The object in an envelope, with the type that the envelope says.
///
/// # Errors
/// [`DecodeError`] for bytes that are no such message.
pub fn object(message: &Message, envelope: &Envelope<'_>, limits: &Limits) -> Result<Document, DecodeError> {
    decode_strict(message, envelope, limits).map(|decoded| decoded.document)
}

/// The object in an envelope, as [`object`] reads it. Fields that the message does not know are told among the faults by
/// their numbers: `unknown field "spec.99"`. Those of raw JSON inside of messages have not been looked for.
///
/// # Errors
/// As [`object`].
pub fn decode_strict(message: &Message, envelope: &Envelope<'_>, limits: &Limits) -> Result<Decoded, DecodeError> {
    let (mut fields, mut reading) = (Map::new(), read::Reading::new(*limits));
    message.read(envelope.message, &mut fields, &mut reading)?;
    fields.extend(envelope.type_meta());
    let faults = reading.unknown.iter().map(|path| format!("unknown field {}", go::quoted(path))).collect();
    Ok(Decoded { document: Document::Object(fields), faults, pruned: false })
}

impl Message {
    /// The document of a message, without an envelope.
    ///
    /// # Errors
    /// [`DecodeError`] for bytes that are no such message.
    pub fn decode(&self, bytes: &[u8], limits: &Limits) -> Result<Document, DecodeError> {
        let mut fields = Map::new();
        self.read(bytes, &mut fields, &mut read::Reading::new(*limits))?;
        Ok(Document::Object(fields))
    }
}
