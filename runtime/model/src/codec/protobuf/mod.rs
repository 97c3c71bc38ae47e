//! Protobuf in and out, compatible with Go clients: the envelope, and the conversion between messages and documents by
//! the field numbers of the schema. No I/O.
//!
//! **Output.** Fields are sorted by number, map entries by key. A message contains the fields of the document, without
//! empty lists and maps. If zero and absence of a field are equivalent
//! ([`Schema::zero_is_absent`](crate::schema::Schema): fields of built-in kinds and of the types of `meta` other than
//! `Option`s, which are pointers in Go), the field is always written, as in Go, and a zero is read as absent. Times are
//! seconds and nanoseconds; raw JSON, `fieldsV1` and quantities are text in a message.
//!
//! **Input.** Messages decode to the documents that the same object has in JSON. Fields with unknown numbers are
//! dropped, and reported as faults by number, because a message contains no names.
//!
//! Messages may nest as deep as JSON, and no deeper than the schema. The memory of the decoded document is limited,
//! too.
use std::fmt;

use serde_json::Map;

use super::{DecodedDocument, Limits};
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

/// Why bytes are not a valid message of a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodeError {
    /// The field, such as `spec.replicas`; empty for the message itself.
    pub place: String,
    /// The error.
    pub message: String,
}

impl DecodeError {
    fn new(message: impl Into<String>) -> Self {
        Self { place: String::new(), message: message.into() }
    }

    /// The same error, relative to the message around it.
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

/// Why a document cannot be encoded as a message of a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncodeError {
    /// The field, such as `spec.replicas`; empty for the object itself.
    pub place: String,
    /// The expected value, such as `a whole number`.
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

/// Encodes an object or an answer in an envelope, with the apiVersion and kind of the document.
///
/// # Errors
/// Like [`Message::encode`].
pub fn encode(message: &Message, document: &Document) -> Result<Vec<u8>, EncodeError> {
    let mut bytes = Vec::new();
    message.encode(document, &mut bytes)?;
    let text = |name: &str| document.get(name).and_then(Document::as_str).unwrap_or("");
    Ok(seal(text("apiVersion"), text("kind"), &bytes))
}

/// Decodes the object in an envelope, with the envelope's type.
///
/// # Errors
/// [`DecodeError`] for an invalid message.
pub fn object(message: &Message, envelope: &Envelope<'_>, limits: &Limits) -> Result<Document, DecodeError> {
    decode_strict(message, envelope, limits).map(|decoded| decoded.document)
}

/// Decodes the object in an envelope like [`object`]. Unknown fields are reported as faults by number: `unknown field
/// "spec.99"`. Unknown fields of raw JSON inside messages are not searched for.
///
/// # Errors
/// Like [`object`].
pub fn decode_strict(
    message: &Message,
    envelope: &Envelope<'_>,
    limits: &Limits,
) -> Result<DecodedDocument, DecodeError> {
    let (mut fields, mut state) = (Map::new(), read::DecodeState::new(*limits));
    message.read(envelope.message, &mut fields, &mut state)?;
    fields.extend(envelope.type_meta());
    let faults = state.unknown.iter().map(|path| format!("unknown field {}", go::quoted(path))).collect();
    Ok(DecodedDocument { document: Document::Object(fields), faults, pruned: false })
}

impl Message {
    /// Decodes a message without an envelope.
    ///
    /// # Errors
    /// [`DecodeError`] for an invalid message.
    pub fn decode(&self, bytes: &[u8], limits: &Limits) -> Result<Document, DecodeError> {
        let mut fields = Map::new();
        self.read(bytes, &mut fields, &mut read::DecodeState::new(*limits))?;
        Ok(Document::Object(fields))
    }
}
