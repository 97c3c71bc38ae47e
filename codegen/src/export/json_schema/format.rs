//! Formats of text. JSON Schema has names for few of the formats that servers check. Others are written as patterns.
use kindsmith::schema::{Scalar, Schema};

/// How a format is written.
#[derive(Clone, Copy)]
pub(super) enum Format {
    /// By its name, which means the same in JSON Schema.
    Name(&'static str),
    /// By a pattern, and the greatest length.
    Pattern(&'static str, Option<u64>),
    /// Not at all.
    Unsaid,
}

/// Base64 with padding, as Go reads bytes: line breaks are allowed anywhere, and so is nothing.
const BYTES: &str = "^[\\r\\n]*(?:(?:[A-Za-z0-9+/][\\r\\n]*){4})*\
    (?:[A-Za-z0-9+/][\\r\\n]*[A-Za-z0-9+/][\\r\\n]*(?:=|[A-Za-z0-9+/])[\\r\\n]*=[\\r\\n]*)?$";
const BASE64: &str = "^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$";
const QUANTITY: &str = "^[+-]?(?:[0-9]+(?:\\.[0-9]*)?|\\.[0-9]+)(?:[KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]+)?$";
const UUID: &str = "^[0-9A-Fa-f]{8}-?[0-9A-Fa-f]{4}-?[0-9A-Fa-f]{4}-?[0-9A-Fa-f]{4}-?[0-9A-Fa-f]{12}$";
const UUID3: &str = "^[0-9A-Fa-f]{8}-?[0-9A-Fa-f]{4}-?3[0-9A-Fa-f]{3}-?[0-9A-Fa-f]{4}-?[0-9A-Fa-f]{12}$";
const UUID4: &str = "^[0-9A-Fa-f]{8}-?[0-9A-Fa-f]{4}-?4[0-9A-Fa-f]{3}-?[89ABab][0-9A-Fa-f]{3}-?[0-9A-Fa-f]{12}$";
const UUID5: &str = "^[0-9A-Fa-f]{8}-?[0-9A-Fa-f]{4}-?5[0-9A-Fa-f]{3}-?[89ABab][0-9A-Fa-f]{3}-?[0-9A-Fa-f]{12}$";
const SHORT_NAME: &str = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$";
const LONG_NAME: &str = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$";

impl Format {
    /// The format of a schema.
    pub(super) fn of(schema: &Schema) -> Self {
        match schema.scalar {
            Some(Scalar::Bytes) => return Self::Pattern(BYTES, None),
            Some(Scalar::Quantity) => return Self::Pattern(QUANTITY, None),
            _ => {}
        }
        match schema.format.as_deref().unwrap_or_default().replace('-', "").as_str() {
            "datetime" => Self::Name("date-time"),
            "date" => Self::Name("date"),
            "ipv4" => Self::Name("ipv4"),
            "ipv6" => Self::Name("ipv6"),
            "bsonobjectid" => Self::Pattern("^[0-9A-Fa-f]{24}$", None),
            "byte" => Self::Pattern(BASE64, None),
            "hexcolor" => Self::Pattern("^#?(?:[0-9A-Fa-f]{3}|[0-9A-Fa-f]{6})$", None),
            "ssn" => Self::Pattern("^[0-9]{3}[- ][0-9]{2}[- ][0-9]{4}$", None),
            "uuid" => Self::Pattern(UUID, None),
            "uuid3" => Self::Pattern(UUID3, None),
            "uuid4" => Self::Pattern(UUID4, None),
            "uuid5" => Self::Pattern(UUID5, None),
            "k8sshortname" => Self::Pattern(SHORT_NAME, Some(63)),
            "k8slongname" => Self::Pattern(LONG_NAME, Some(253)),
            _ => Self::Unsaid,
        }
    }
}

#[cfg(test)]
mod tests;
