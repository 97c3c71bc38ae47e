//! The envelope of a message: four magic bytes, then `runtime.Unknown`, which contains the type and the message.
use super::{
    DecodeError, MEDIA_TYPE,
    wire::{Reader, write_bytes, write_length},
};
use crate::schema::Document;

/// The beginning of every body.
const MARK: &[u8] = b"k8s\0";

/// A parsed envelope.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Envelope<'a> {
    /// The message's group and version; may be empty.
    pub api_version: &'a str,
    /// The message's kind; may be empty.
    pub kind: &'a str,
    /// The message.
    pub message: &'a [u8],
}

impl Envelope<'_> {
    /// `apiVersion` and `kind` as in an object, without empty ones.
    pub fn type_meta(&self) -> impl Iterator<Item = (String, Document)> {
        let given = [("apiVersion", self.api_version), ("kind", self.kind)];
        given.into_iter().filter(|(_, text)| !text.is_empty()).map(|(name, text)| (name.to_owned(), text.into()))
    }
}

/// Wraps a message in an envelope.
pub fn seal(api_version: &str, kind: &str, message: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(api_version.len() + kind.len() + message.len() + 32);
    seal_start(api_version, kind, message.len(), &mut out);
    out.extend_from_slice(message);
    seal_end(&mut out);
    out
}

/// Appends the part of an envelope before a message of this length.
pub(super) fn seal_start(api_version: &str, kind: &str, length: usize, out: &mut Vec<u8>) {
    let mut type_meta = Vec::with_capacity(api_version.len() + kind.len() + 4);
    write_bytes(1, api_version.as_bytes(), &mut type_meta);
    write_bytes(2, kind.as_bytes(), &mut type_meta);
    out.extend_from_slice(MARK);
    write_bytes(1, &type_meta, out);
    write_length(2, length, out);
}

/// Appends the part after the message: its encoding and its media type, both empty, which is the default.
pub(super) fn seal_end(out: &mut Vec<u8>) {
    write_bytes(3, b"", out);
    write_bytes(4, b"", out);
}

/// Parses the envelope of a body.
///
/// # Errors
/// [`DecodeError`] for a body without an envelope, or whose message is compressed or of another media type.
pub fn open(body: &[u8]) -> Result<Envelope<'_>, DecodeError> {
    let rest = body.strip_prefix(MARK).ok_or_else(|| {
        DecodeError::new("provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]")
    })?;
    let mut envelope = Envelope::default();
    let mut reader = Reader::new(rest);
    while let Some((number, value)) = reader.field()? {
        match number {
            1 => type_meta(value.bytes()?, &mut envelope)?,
            2 => envelope.message = value.bytes()?,
            3 => expect("contentEncoding", value.text()?, "")?,
            4 => expect("contentType", value.text()?, MEDIA_TYPE)?,
            _ => {}
        }
    }
    Ok(envelope)
}

fn type_meta<'a>(bytes: &'a [u8], envelope: &mut Envelope<'a>) -> Result<(), DecodeError> {
    let mut reader = Reader::new(bytes);
    while let Some((number, value)) = reader.field()? {
        match number {
            1 => envelope.api_version = value.text()?,
            2 => envelope.kind = value.text()?,
            _ => {}
        }
    }
    Ok(())
}

/// Refuses a value that is neither empty nor the expected one.
fn expect(field: &str, given: &str, expected: &str) -> Result<(), DecodeError> {
    if given.is_empty() || given == expected {
        return Ok(());
    }
    Err(DecodeError::new(format!("the {field} {given:?} is not read here")).within(field))
}
