//! Percent-encoding, as used in paths, queries and some headers. Decoding drops nothing.

use std::fmt;

/// Why a text cannot be decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecodeError {
    /// A `%` without two hexadecimal digits.
    Escape,
    /// The decoded bytes are not UTF-8.
    Utf8,
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Escape => "the percent-encoding is invalid",
            Self::Utf8 => "the text is not valid UTF-8",
        })
    }
}

/// Decodes a text, once.
///
/// # Errors
/// [`DecodeError`].
pub fn decode(text: &str) -> Result<String, DecodeError> {
    if !text.contains('%') {
        return Ok(text.to_owned());
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    let digit = |byte: Option<u8>| byte.and_then(|byte| char::from(byte).to_digit(16)).ok_or(DecodeError::Escape);
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let (high, low) = (digit(rest.next())?, digit(rest.next())?);
            bytes.push(u8::try_from(high * 16 + low).map_err(|_| DecodeError::Escape)?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).map_err(|_| DecodeError::Utf8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_decoded_once() {
        for (text, want) in [("", ""), ("a+b", "a+b"), ("%2520", "%20"), ("%c3%A4", "ä"), ("%00", "\0")] {
            assert_eq!(decode(text).as_deref(), Ok(want), "{text}");
        }
        for text in ["%", "a%2", "%zz", "%+1", "%2%30", "%ä1"] {
            assert_eq!(decode(text), Err(DecodeError::Escape), "{text}");
        }
        for text in ["%ff", "%c3", "%ed%a0%80"] {
            assert_eq!(decode(text), Err(DecodeError::Utf8), "{text}");
        }
    }
}
