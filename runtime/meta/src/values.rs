//! Value types for fields: number or text, base64 bytes, raw JSON.
use std::borrow::Cow;

use base64::{
    Engine as _, alphabet,
    engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig, STANDARD},
};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::Value;

/// An integer or a string, such as a port or `50%`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(untagged)]
pub enum IntOrString {
    /// A number.
    Int(i32),
    /// Text.
    String(String),
}

impl Default for IntOrString {
    fn default() -> Self {
        Self::Int(0)
    }
}

impl From<i32> for IntOrString {
    fn from(number: i32) -> Self {
        Self::Int(number)
    }
}

impl From<&str> for IntOrString {
    fn from(text: &str) -> Self {
        Self::String(text.to_owned())
    }
}

/// Bytes, written as standard base64.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ByteString(pub Vec<u8>);

impl ByteString {
    /// Decodes standard base64. Line breaks and bits after the last byte are allowed, as in Go.
    ///
    /// # Errors
    /// If the text is not valid base64.
    pub fn from_base64(text: &str) -> Result<Self, String> {
        let packed: String;
        let bare = if text.contains(['\n', '\r']) {
            packed = text.replace(['\n', '\r'], "");
            packed.as_str()
        } else {
            text
        };
        let wrong = |_| format!("illegal base64 data at input byte {}", wrong_byte(text.as_bytes()));
        LENIENT.decode(bare).map(Self).map_err(wrong)
    }

    /// The base64 text of the bytes of another one, which may have line breaks.
    ///
    /// # Errors
    /// If the text is not valid base64.
    pub fn canonical(text: &str) -> Result<Cow<'_, str>, String> {
        if text.is_empty() || is_base64(text) && ends_in_zeros(text) {
            return Ok(text.into());
        }
        Ok(Self::from_base64(text)?.to_base64().into())
    }

    /// The base64 text.
    pub fn to_base64(&self) -> String {
        STANDARD.encode(&self.0)
    }
}

/// Reads any bits after the last byte.
const LENIENT: GeneralPurpose =
    GeneralPurpose::new(&alphabet::STANDARD, GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true));

/// True for base64 without line breaks: groups of four digits, the last one padded, of which there is at least one.
pub fn is_base64(text: &str) -> bool {
    let padding = text.bytes().rev().take(2).take_while(|byte| *byte == b'=').count();
    let (digits, _) = text.as_bytes().split_at(text.len() - padding);
    !text.is_empty()
        && text.len().is_multiple_of(4)
        && digits.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/'))
}

/// True if the last digit of base64 has no bits after the last byte.
fn ends_in_zeros(base64: &str) -> bool {
    match base64.as_bytes() {
        [.., last, b'=', b'='] => b"AQgw".contains(last),
        [.., last, b'='] => b"AEIMQUYcgkosw048".contains(last),
        _ => true,
    }
}

/// The position at which Go reports text that is not valid base64.
fn wrong_byte(text: &[u8]) -> usize {
    let is_break = |at: usize| matches!(text.get(at), Some(b'\n' | b'\r'));
    // The digits of the group so far.
    let mut digits = 0;
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        at += 1;
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'+' | b'/' => digits = (digits + 1) % 4,
            b'\n' | b'\r' => {}
            b'=' if digits >= 2 => {
                while digits == 2 && is_break(at) {
                    at += 1;
                }
                if digits == 2 && text.get(at) != Some(&b'=') {
                    return if at == text.len() { at } else { at - 1 };
                }
                return (at + usize::from(digits == 2)..text.len()).find(|at| !is_break(*at)).unwrap_or(text.len());
            }
            _ => return at - 1,
        }
    }
    text.len() - digits
}

impl Serialize for ByteString {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&self.to_base64())
    }
}

impl<'de> Deserialize<'de> for ByteString {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Self::from_base64(&String::deserialize(from)?).map_err(de::Error::custom)
    }
}

/// Any JSON value, kept unchanged.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RawJson(pub Value);
