//! Value types for fields: number or text, base64 bytes, raw JSON.
use base64::{Engine as _, engine::general_purpose::STANDARD};
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
    /// Decodes standard base64. Line breaks are allowed, as in Go.
    ///
    /// # Errors
    /// If the text is not valid base64.
    pub fn from_base64(text: &str) -> Result<Self, String> {
        let packed: String;
        let text = if text.contains(['\n', '\r']) {
            packed = text.replace(['\n', '\r'], "");
            packed.as_str()
        } else {
            text
        };
        STANDARD.decode(text).map(Self).map_err(|e| format!("illegal base64 data: {e}"))
    }

    /// The base64 text.
    pub fn to_base64(&self) -> String {
        STANDARD.encode(&self.0)
    }
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
