//! YAML as Kubernetes uses it: YAML 1.1 as go-yaml reads and writes it, restricted to JSON values.
use std::borrow::Cow;

use super::{DecodedDocument, Limits, memory::Memory};
use crate::schema::Document;

mod build;
mod error;
mod list;
mod order;
mod scalar;
mod stream;
mod tape;
#[cfg(test)]
mod tests;
mod unindented;
mod write;

pub use error::Error;
pub use list::ListWriter;
pub use stream::{Lines, documents};
pub use write::encode;

/// Decodes the document of a YAML text; an empty text is `null`. JSON is valid YAML. go-yaml reads the first of several
/// documents and drops the others; here they are refused, unless they are empty.
///
/// Plain scalars are resolved by YAML 1.1, as far as go-yaml follows it. Keys that are not text become text. For
/// repeated keys of a map the last value wins; all of them are one fault.
///
/// # Errors
/// [`Error`] if the text is not YAML, not one document, not UTF-8, has no counterpart in JSON, is nested too deeply, or
/// is too large.
pub fn decode(bytes: &[u8], limits: &Limits) -> Result<DecodedDocument, Error> {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text.strip_prefix('\u{feff}').unwrap_or(text),
        Err(error) => {
            let line = bytes[..error.valid_up_to()].split(|byte| *byte == b'\n').count();
            return Err(Error::on_line(line, "invalid UTF-8"));
        }
    };
    if let Some(decoded) = json(text, limits) {
        return decoded;
    }
    if is_dense(text) {
        return Err(Error::on_line(1, Memory::EXCEEDED));
    }
    let (mut text, mut again) = (Cow::Borrowed(text), unindented::Again::new(text));
    loop {
        let decoded = decode_text(&text, limits);
        let stop = decoded.as_ref().err().and_then(|error| error.unindented.as_ref());
        match stop.and_then(|stop| again.indent(&text, stop)) {
            Some(indented) => text = indented.into(),
            None => return decoded,
        }
    }
}

/// How large a text is looked at as a whole before it is read, and how many bytes its items have on average.
const LARGE: usize = 4 << 20;
const SHORTEST: usize = 8;

/// A large text of items of a few bytes each, such as lines `- 1`. Reading it takes several times as long as others of
/// its size, up to the limit of memory. Real documents are not like this.
fn is_dense(text: &str) -> bool {
    let items = || text.bytes().filter(|byte| matches!(byte, b'\n' | b',')).count();
    text.len() > LARGE && items() > text.len() / SHORTEST
}

fn decode_text(text: &str, limits: &Limits) -> Result<DecodedDocument, Error> {
    let (tape, memory) = tape::read(text, limits)?;
    if tape.is_empty() {
        return Ok(Document::Null.into());
    }
    let mut builder = build::Builder::new(&tape, memory, limits);
    let document = builder.value(0)?;
    let mut faults = Vec::new();
    if !builder.repeated.is_empty() {
        faults.push(format!("yaml: unmarshal errors:\n{}", builder.repeated.join("\n")));
    }
    Ok(DecodedDocument { document, faults, pruned: false })
}

/// Text that is entirely JSON is parsed as JSON, which is faster. If the JSON decoder reports anything, the YAML
/// decoder is used instead, except for documents that are too large for both.
fn json(text: &str, limits: &Limits) -> Option<Result<DecodedDocument, Error>> {
    if !text.trim_ascii_start().starts_with(['{', '[']) {
        return None;
    }
    match super::decode(text.as_bytes(), limits) {
        Ok(decoded) => decoded.faults.is_empty().then_some(Ok(decoded)),
        Err(error) if error.message == Memory::EXCEEDED => Some(Err(Error::on_line(error.line, Memory::EXCEEDED))),
        Err(_) => None,
    }
}
