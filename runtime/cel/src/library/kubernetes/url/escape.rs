//! Escapes of bytes in URLs: which bytes each part escapes, and may escape.
use std::{borrow::Cow, fmt::Write};

use kindsmith_meta::go::quoted;

/// A part of a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Path,
    User,
    Host,
    Zone,
    Query,
    Fragment,
}

impl Part {
    /// True if Go escapes a byte of this part.
    fn escapes(self, byte: u8) -> bool {
        let plain: &[u8] = match self {
            Self::Path => b"-_.~$&+,/:;=@",
            Self::User => b"-_.~$&+,;=",
            Self::Host | Self::Zone => b"-_.~!$&'()*+,;=:[]<>\"",
            Self::Query => b"-_.~",
            Self::Fragment => b"-_.~$&+,/:;=?@!()*",
        };
        !byte.is_ascii_alphanumeric() && !plain.contains(&byte)
    }
}

/// The bytes of a part without its escapes.
///
/// # Errors
/// An escape that is not well formed, or a sign that may not be there, in Go's words.
pub(super) fn unescape(text: &str, part: Part) -> Result<Cow<'_, [u8]>, String> {
    let bytes = text.as_bytes();
    let is_host = matches!(part, Part::Host | Part::Zone);
    let is_special = |byte: &u8| *byte == b'%' || *byte == b'+' && part == Part::Query;
    if !is_host && !bytes.iter().any(is_special) {
        return Ok(bytes.into());
    }
    let (mut out, mut at) = (Vec::with_capacity(bytes.len()), 0);
    while let Some(&byte) = bytes.get(at) {
        at += 1;
        match byte {
            b'%' => {
                let escaped = bytes.get(at..at + 2).and_then(byte_of_digits);
                let byte = escaped.filter(|byte| is_allowed(*byte, part));
                out.push(byte.ok_or_else(|| invalid_escape(bytes, at - 1))?);
                at += 2;
            }
            b'+' if part == Part::Query => out.push(b' '),
            _ if is_host && byte.is_ascii() && part.escapes(byte) => {
                return Err(format!("invalid character {} in host name", quoted(&char::from(byte).to_string())));
            }
            _ => out.push(byte),
        }
    }
    Ok(out.into())
}

fn byte_of_digits(digits: &[u8]) -> Option<u8> {
    let digit = |digit: u8| char::from(digit).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    Some(digit(digits[0])? << 4 | digit(digits[1])?)
}

/// True if a part may have a byte escaped. Hosts have that only for what is not ASCII, and for the sign before a zone.
fn is_allowed(byte: u8, part: Part) -> bool {
    match part {
        Part::Host => byte >= 0x80 || byte == b'%',
        Part::Zone => byte == b'%' || byte == b' ' || !Part::Host.escapes(byte),
        _ => true,
    }
}

/// The error of an escape at a position, which shows it: three bytes, if there are so many.
fn invalid_escape(bytes: &[u8], at: usize) -> String {
    let shown = &bytes[at..(at + 3).min(bytes.len())];
    let mut out = String::from("invalid URL escape \"");
    for chunk in shown.utf8_chunks() {
        let text = quoted(chunk.valid());
        out.push_str(&text[1..text.len() - 1]);
        for byte in chunk.invalid() {
            write!(out, "\\x{byte:02x}").expect("writing to a String cannot fail");
        }
    }
    out.push('"');
    out
}

/// A part with escapes where Go has them.
pub(super) fn escape(bytes: &[u8], part: Part) -> String {
    let mut out = String::with_capacity(bytes.len());
    for &byte in bytes {
        if part.escapes(byte) {
            write!(out, "%{byte:02X}").expect("writing to a String cannot fail");
        } else {
            out.push(char::from(byte));
        }
    }
    out
}

/// True if a text has nothing that its part must escape. Text in brackets is allowed, as browsers allow it.
pub(super) fn is_encoded(text: &str, part: Part) -> bool {
    text.bytes().all(|byte| b"!$&'()*+,;=:@[]%".contains(&byte) || !part.escapes(byte))
}
