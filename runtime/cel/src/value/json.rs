//! Values as JSON.
use base64::{Engine as _, engine::general_purpose::STANDARD};

use super::{Json, Object, Value};
use crate::Error;

impl Value<'_> {
    /// The value as JSON (the mapping of the specification, "JSON Data Conversion"): bytes as base64, durations as seconds, times as RFC 3339,
    /// numbers that JSON does not have as text, an absent optional value as null. Types and values that functions alone understand are what
    /// [`Display`](std::fmt::Display) prints.
    ///
    /// # Errors
    /// A part of a document cannot be read.
    pub fn to_json(&self) -> Result<Json, Error> {
        Ok(match self {
            Self::Null | Self::Optional(None) => Json::Null,
            Self::Bool(value) => (*value).into(),
            Self::Int(value) => (*value).into(),
            Self::Uint(value) => (*value).into(),
            Self::Double(value) => serde_json::Number::from_f64(*value).map_or_else(
                || {
                    if value.is_nan() {
                        "NaN".into()
                    } else {
                        format!("{}Infinity", if *value < 0.0 { "-" } else { "" }).into()
                    }
                },
                Json::Number,
            ),
            Self::String(text) => (**text).into(),
            Self::Bytes(bytes) => STANDARD.encode(&**bytes).into(),
            Self::Duration(value) => value.to_string().into(),
            Self::Timestamp(value) => value.to_string().into(),
            Self::List(list) => list.iter().map(|item| item?.to_json()).collect::<Result<Vec<_>, _>>()?.into(),
            Self::Map(map) => {
                let name =
                    |key: Value<'_>| if let Value::String(text) = &key { (**text).to_owned() } else { key.to_string() };
                let entries = map.iter().map(|(key, value)| Ok((name(key), value?.to_json()?)));
                entries.collect::<Result<Object, Error>>()?.into()
            }
            Self::Optional(Some(value)) => value.to_json()?,
            Self::Type(_) | Self::Opaque(_) => self.to_string().into(),
        })
    }
}
