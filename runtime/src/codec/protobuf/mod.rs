//! Protobuf in, as clients of Go write it: the envelope, and messages turned into documents by the field numbers that
//! the schema declares. Decoding only; no I/O.
//!
//! The documents are those that the same object would have been as JSON. Go writes fields that are no pointers even when
//! they are empty; what is empty and optional is dropped. Fields with numbers that the schema does not know are skipped,
//! as the reference skips them: a message names no fields, so there is nothing to tell the user.
//!
//! Schemas end, and messages are read only as deep as the schema goes, so hostile bytes cannot nest deeper than that.
use std::fmt;

use serde_json::Map;

use super::Limits;
use crate::schema::{self, Document, METADATA, Schema};

mod envelope;
mod message;
mod options;
#[cfg(test)]
mod tests;
mod values;
mod wire;

pub use envelope::{Envelope, open};
pub use options::DELETE_OPTIONS;

/// The media type of bodies in an envelope.
pub const MEDIA_TYPE: &str = "application/vnd.kubernetes.protobuf";

/// The number of `metadata` in every object.
const METADATA_NUMBER: u32 = 1;

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

/// Whether objects with this root schema can be told from their messages: all fields have numbers, at all depths.
pub fn is_numbered(root: &Schema) -> bool {
    let free = root.properties.values().all(|property| property.protobuf != Some(METADATA_NUMBER));
    free && !root.properties.is_empty() && all_numbered(root)
}

fn all_numbered(schema: &Schema) -> bool {
    let inner = schema.items.iter().chain(&schema.additional);
    schema.properties.values().all(|property| property.protobuf.is_some() && all_numbered(property))
        && inner.into_iter().all(|schema| all_numbered(schema))
}

/// The object in an envelope, by its kind's root schema, with the type and the metadata that are not in the schema.
///
/// # Errors
/// [`DecodeError`] for bytes that are no message of the schema.
pub fn object(root: &Schema, envelope: &Envelope<'_>, limits: &Limits) -> Result<Document, DecodeError> {
    let mut document = message(root, envelope.message, limits)?;
    let mut metadata = Document::Object(Map::new());
    message::only(METADATA_NUMBER, &METADATA, envelope.message, &mut metadata, *limits)
        .map_err(|error| error.within("metadata"))?;
    schema::normalise(&METADATA, &mut metadata);
    if let (Some(object), Some(metadata)) = (document.as_object_mut(), metadata.as_object_mut()) {
        // The one number in metadata that is no pointer in Go, which writes it though nobody set it.
        if metadata.get("generation") == Some(&0.into()) {
            metadata.remove("generation");
        }
        object.insert("metadata".to_owned(), Document::Object(std::mem::take(metadata)));
        object.extend(envelope.type_meta());
    }
    Ok(document)
}

/// A message that is no object, such as options.
///
/// # Errors
/// As [`object`].
pub fn message(schema: &Schema, bytes: &[u8], limits: &Limits) -> Result<Document, DecodeError> {
    let mut fields = Map::new();
    message::read(schema, bytes, &mut fields, *limits)?;
    let mut document = Document::Object(fields);
    schema::normalise(schema, &mut document);
    Ok(document)
}
