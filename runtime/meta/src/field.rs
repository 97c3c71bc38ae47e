//! Errors about one field of an object, as `Status.details.causes` carries them.
use std::{fmt, io};

use serde_json::Value;

use crate::go;

/// A path to a field, printed in the API's form: `spec.ports[1].name`, `metadata.labels[app]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FieldPath(String);

impl FieldPath {
    /// The object itself.
    pub fn root() -> Self {
        Self::default()
    }

    /// A path from its text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The path of a named field below this one.
    #[must_use]
    pub fn child(&self, name: &str) -> Self {
        if self.0.is_empty() { Self(name.to_owned()) } else { Self([self.0.as_str(), ".", name].concat()) }
    }

    /// The path of a list item.
    #[must_use]
    pub fn index(&self, index: usize) -> Self {
        Self(format!("{}[{index}]", self.0))
    }

    /// The path of a map entry.
    #[must_use]
    pub fn key(&self, key: &str) -> Self {
        Self([self.0.as_str(), "[", key, "]"].concat())
    }

    /// The path as text; empty for the root.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_empty() { "<nil>" } else { &self.0 })
    }
}

/// The maximum number of errors reported for one object. An error can be much longer than the bytes that cause it.
pub const MOST_ERRORS: usize = 1_000;

/// The maximum length of all errors together that are reported for one object, in bytes.
pub const MOST_ERROR_BYTES: usize = 256 << 10;

/// The maximum length of a value in an error, in bytes of JSON.
pub const MOST_REPEATED: usize = 4 << 10;

/// The text, truncated to `most` bytes.
pub fn beginning(text: &str, most: usize) -> String {
    let end = text.floor_char_boundary(most);
    if end == text.len() { text.to_owned() } else { format!("{}…", &text[..end]) }
}

/// A copy of the value, or of the beginning of its text if it is long.
pub fn shown(value: &Value) -> Value {
    match value {
        Value::String(text) => beginning(text, MOST_REPEATED).into(),
        Value::Array(_) | Value::Object(_) => match long_text(value) {
            Some(beginning) => beginning.into(),
            None => value.clone(),
        },
        scalar => scalar.clone(),
    }
}

/// The value itself, or the beginning of its text if it is long.
fn shortened(value: Value) -> Value {
    match &value {
        Value::String(text) if text.len() > MOST_REPEATED => shown(&value),
        Value::Array(_) | Value::Object(_) => long_text(&value).map_or(value, Value::from),
        _ => value,
    }
}

/// A value in a message: text as Go quotes it, numbers as Go prints them, and the rest as JSON.
fn printed(value: &Value) -> String {
    match value {
        Value::String(text) => go::quoted(text),
        Value::Number(_) => go::plain(value),
        value => value.to_string(),
    }
}

/// The beginning of the text of a value; `None` if it is short. Writes no more of it than that.
fn long_text(value: &Value) -> Option<String> {
    let mut text = TruncatingWriter(Vec::with_capacity(128));
    let is_long = serde_json::to_writer(&mut text, value).is_err();
    // Drops a character that was cut.
    is_long.then(|| format!("{}…", String::from_utf8_lossy(&text.0).trim_end_matches(char::REPLACEMENT_CHARACTER)))
}

/// Takes as many bytes as errors repeat, and fails at the next one.
struct TruncatingWriter(Vec<u8>);

impl io::Write for TruncatingWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(MOST_REPEATED - self.0.len());
        self.0.extend_from_slice(&bytes[..taken]);
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The kinds of field errors. Each has its own cause reason and wording.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum FieldErrorKind {
    /// A required field is absent, null or empty.
    Required,
    /// The value is not allowed. The value is printed as JSON.
    Invalid(Value),
    /// Like `Invalid`, but the value is already printed, because its members have a fixed order.
    InvalidText(String),
    /// The value is not allowed, and is not printed: it is an object or a list, which may be large.
    InvalidContent,
    /// The value's type differs from the schema. The value is printed as JSON.
    TypeInvalid(Value),
    /// The value is not one of the supported values.
    NotSupported {
        /// The given value.
        given: Value,
        /// The supported values; strings are quoted.
        supported: Vec<String>,
    },
    /// The value must be unique but occurs twice.
    Duplicate(Value),
    /// The value must be unique, and is not printed.
    DuplicateContent,
    /// The field may not be set, or not to this value.
    Forbidden,
    /// A string or byte field is longer than allowed.
    TooLong {
        /// The limit, in bytes.
        limit: i64,
    },
    /// A list or map has more entries than allowed.
    TooMany {
        /// The given number of entries.
        given: usize,
        /// The maximum number of entries.
        limit: i64,
    },
    /// The referenced object does not exist.
    NotFound(Value),
    /// Checking the field failed in the server.
    Internal,
    /// So many further errors are not reported.
    Omitted(usize),
}

impl FieldErrorKind {
    /// The same kind without the value.
    fn without_value(self) -> Self {
        match self {
            Self::Invalid(_) | Self::InvalidText(_) => Self::Invalid("".into()),
            Self::TypeInvalid(_) => Self::TypeInvalid("".into()),
            Self::NotSupported { supported, .. } => Self::NotSupported { given: "".into(), supported },
            Self::Duplicate(_) => Self::Duplicate("".into()),
            Self::NotFound(_) => Self::NotFound("".into()),
            other => other,
        }
    }
}

/// An error about one field.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct FieldError {
    /// The path of the field.
    pub path: FieldPath,
    /// The kind of error.
    pub kind: FieldErrorKind,
    /// The rest of the message after the kind's wording; may be empty.
    pub detail: String,
}

impl FieldError {
    /// This error without its value and detail, for clients that may not read them.
    #[must_use]
    pub fn without_value(self) -> Self {
        Self { kind: self.kind.without_value(), detail: String::new(), ..self }
    }

    /// An error of the given kind. Long values are truncated.
    pub fn new(path: &FieldPath, kind: FieldErrorKind, detail: impl Into<String>) -> Self {
        let kind = match kind {
            FieldErrorKind::Invalid(value) => FieldErrorKind::Invalid(shortened(value)),
            FieldErrorKind::InvalidText(text) => FieldErrorKind::InvalidText(beginning(&text, MOST_REPEATED)),
            FieldErrorKind::TypeInvalid(value) => FieldErrorKind::TypeInvalid(shortened(value)),
            FieldErrorKind::NotSupported { given, supported } => {
                FieldErrorKind::NotSupported { given: shortened(given), supported }
            }
            FieldErrorKind::Duplicate(value) => FieldErrorKind::Duplicate(shortened(value)),
            FieldErrorKind::NotFound(value) => FieldErrorKind::NotFound(shortened(value)),
            other => other,
        };
        Self { path: path.clone(), kind, detail: detail.into() }
    }

    /// The end of a list from which so many errors were left out.
    pub fn omitted(count: usize) -> Self {
        Self { path: FieldPath::root(), kind: FieldErrorKind::Omitted(count), detail: String::new() }
    }

    /// Its length in bytes as text.
    pub fn size(&self) -> usize {
        self.path.0.len() + self.message().len()
    }

    /// The reason of the cause, such as `FieldValueRequired`.
    pub fn reason(&self) -> &'static str {
        match self.kind {
            FieldErrorKind::Required => "FieldValueRequired",
            FieldErrorKind::Invalid(_) | FieldErrorKind::InvalidText(_) | FieldErrorKind::InvalidContent => {
                "FieldValueInvalid"
            }
            FieldErrorKind::TypeInvalid(_) => "FieldValueTypeInvalid",
            FieldErrorKind::NotSupported { .. } => "FieldValueNotSupported",
            FieldErrorKind::Duplicate(_) | FieldErrorKind::DuplicateContent => "FieldValueDuplicate",
            FieldErrorKind::Forbidden => "FieldValueForbidden",
            FieldErrorKind::TooLong { .. } => "FieldValueTooLong",
            FieldErrorKind::TooMany { .. } | FieldErrorKind::Omitted(_) => "FieldValueTooMany",
            FieldErrorKind::NotFound(_) => "FieldValueNotFound",
            FieldErrorKind::Internal => "InternalError",
        }
    }

    /// The message of the cause, without the field: `Required value: name or generateName is required`.
    pub fn message(&self) -> String {
        let head = match &self.kind {
            FieldErrorKind::Required => "Required value".to_owned(),
            FieldErrorKind::Invalid(v) | FieldErrorKind::TypeInvalid(v) => format!("Invalid value: {}", printed(v)),
            FieldErrorKind::InvalidText(text) => format!("Invalid value: {text}"),
            FieldErrorKind::InvalidContent => "Invalid value".to_owned(),
            FieldErrorKind::DuplicateContent => "Duplicate value".to_owned(),
            FieldErrorKind::NotSupported { given, supported } => {
                format!("Unsupported value: {}: supported values: {}", printed(given), supported.join(", "))
            }
            FieldErrorKind::Duplicate(v) => format!("Duplicate value: {}", printed(v)),
            FieldErrorKind::Forbidden => "Forbidden".to_owned(),
            FieldErrorKind::TooLong { limit: 1 } => "Too long: may not be more than 1 byte".to_owned(),
            FieldErrorKind::TooLong { limit } => format!("Too long: may not be more than {limit} bytes"),
            FieldErrorKind::TooMany { given, limit: 1 } => format!("Too many: {given}: must have at most 1 item"),
            FieldErrorKind::TooMany { given, limit } => format!("Too many: {given}: must have at most {limit} items"),
            FieldErrorKind::NotFound(v) => format!("Not found: {}", printed(v)),
            FieldErrorKind::Internal => "Internal error".to_owned(),
            FieldErrorKind::Omitted(1) => "and 1 more error".to_owned(),
            FieldErrorKind::Omitted(count) => format!("and {count} more errors"),
        };
        if self.detail.is_empty() { head } else { format!("{head}: {}", self.detail) }
    }
}

impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            FieldErrorKind::Omitted(_) => f.write_str(&self.message()),
            _ => write!(f, "{}: {}", self.path, self.message()),
        }
    }
}
