//! Errors about one field of an object: what `Status.details.causes` carries.
use std::fmt;

use serde_json::Value;

/// A path to a field, printed as the API prints it: `spec.ports[1].name`, `metadata.labels[app]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FieldPath(String);

impl FieldPath {
    /// The object itself.
    pub fn root() -> Self {
        Self::default()
    }

    /// A path given as its text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The path of a named field below this one.
    #[must_use]
    pub fn child(&self, name: &str) -> Self {
        if self.0.is_empty() { Self(name.to_owned()) } else { Self(format!("{}.{name}", self.0)) }
    }

    /// The path of a list's item.
    #[must_use]
    pub fn index(&self, index: usize) -> Self {
        Self(format!("{}[{index}]", self.0))
    }

    /// The path of a map's entry.
    #[must_use]
    pub fn key(&self, key: &str) -> Self {
        Self(format!("{}[{key}]", self.0))
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

/// How many errors of one object are told. Some take a few bytes of a body each, and far more in an answer.
pub const MOST_ERRORS: usize = 1_000;

/// How much of a value an error repeats, in bytes of JSON.
const MOST_REPEATED: usize = 4 << 10;

/// The text, or its beginning.
pub(crate) fn beginning(text: &str, most: usize) -> String {
    let end = text.floor_char_boundary(most);
    if end == text.len() { text.to_owned() } else { format!("{}…", &text[..end]) }
}

/// The value, or the beginning of its text.
fn shown(value: Value) -> Value {
    match value {
        Value::String(text) if text.len() > MOST_REPEATED => beginning(&text, MOST_REPEATED).into(),
        Value::Array(_) | Value::Object(_) => {
            let text = value.to_string();
            if text.len() > MOST_REPEATED { beginning(&text, MOST_REPEATED).into() } else { value }
        }
        short => short,
    }
}

/// What is wrong with a field; each has its own cause reason and wording.
#[derive(Clone, Debug, PartialEq)]
pub enum FieldErrorKind {
    /// A required field is absent, null or empty.
    Required,
    /// The value is not allowed. The value is printed as JSON.
    Invalid(Value),
    /// As `Invalid`; the value is given as the text that is printed, where its members have an order of their own.
    InvalidText(String),
    /// The value has another type than the schema says. The value is printed as JSON.
    TypeInvalid(Value),
    /// The value is not one of those supported.
    NotSupported {
        /// What was given.
        given: Value,
        /// What is allowed, already quoted where it is text.
        supported: Vec<String>,
    },
    /// The value occurs twice where it must be unique.
    Duplicate(Value),
    /// The field may not be set, or not set so.
    Forbidden,
    /// A string or byte field is longer than allowed.
    TooLong {
        /// The limit, in bytes.
        limit: i64,
    },
    /// A list or map has more entries than allowed.
    TooMany {
        /// How many there are.
        given: usize,
        /// How many there may be.
        limit: i64,
    },
    /// What the field refers to does not exist.
    NotFound(Value),
    /// The server failed while it checked the field.
    Internal,
}

impl FieldErrorKind {
    /// The same without the value.
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

/// One thing wrong with one field.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldError {
    /// Where.
    pub path: FieldPath,
    /// What.
    pub kind: FieldErrorKind,
    /// The rest of the message, after the kind's own words; may be empty.
    pub detail: String,
}

impl FieldError {
    /// The same without the value, for one that the client may not be allowed to read. The detail may repeat it, and goes,
    /// too.
    #[must_use]
    pub fn without_value(self) -> Self {
        Self { kind: self.kind.without_value(), detail: String::new(), ..self }
    }

    /// An error of the given kind. Of a value that is long it repeats the beginning.
    pub fn new(path: &FieldPath, kind: FieldErrorKind, detail: impl Into<String>) -> Self {
        let kind = match kind {
            FieldErrorKind::Invalid(value) => FieldErrorKind::Invalid(shown(value)),
            FieldErrorKind::InvalidText(text) => FieldErrorKind::InvalidText(beginning(&text, MOST_REPEATED)),
            FieldErrorKind::TypeInvalid(value) => FieldErrorKind::TypeInvalid(shown(value)),
            FieldErrorKind::NotSupported { given, supported } => {
                FieldErrorKind::NotSupported { given: shown(given), supported }
            }
            FieldErrorKind::Duplicate(value) => FieldErrorKind::Duplicate(shown(value)),
            FieldErrorKind::NotFound(value) => FieldErrorKind::NotFound(shown(value)),
            other => other,
        };
        Self { path: path.clone(), kind, detail: detail.into() }
    }

    /// The reason of the cause, such as `FieldValueRequired`.
    pub fn reason(&self) -> &'static str {
        match self.kind {
            FieldErrorKind::Required => "FieldValueRequired",
            FieldErrorKind::Invalid(_) | FieldErrorKind::InvalidText(_) => "FieldValueInvalid",
            FieldErrorKind::TypeInvalid(_) => "FieldValueTypeInvalid",
            FieldErrorKind::NotSupported { .. } => "FieldValueNotSupported",
            FieldErrorKind::Duplicate(_) => "FieldValueDuplicate",
            FieldErrorKind::Forbidden => "FieldValueForbidden",
            FieldErrorKind::TooLong { .. } => "FieldValueTooLong",
            FieldErrorKind::TooMany { .. } => "FieldValueTooMany",
            FieldErrorKind::NotFound(_) => "FieldValueNotFound",
            FieldErrorKind::Internal => "InternalError",
        }
    }

    /// The message of the cause, which does not name the field: `Required value: name or generateName is required`.
    pub fn message(&self) -> String {
        let head = match &self.kind {
            FieldErrorKind::Required => "Required value".to_owned(),
            FieldErrorKind::Invalid(v) | FieldErrorKind::TypeInvalid(v) => format!("Invalid value: {v}"),
            FieldErrorKind::InvalidText(text) => format!("Invalid value: {text}"),
            FieldErrorKind::NotSupported { given, supported } => {
                format!("Unsupported value: {given}: supported values: {}", supported.join(", "))
            }
            FieldErrorKind::Duplicate(v) => format!("Duplicate value: {v}"),
            FieldErrorKind::Forbidden => "Forbidden".to_owned(),
            FieldErrorKind::TooLong { limit } => format!("Too long: may not be more than {limit} bytes"),
            FieldErrorKind::TooMany { given, limit } => format!("Too many: {given}: must have at most {limit} items"),
            FieldErrorKind::NotFound(v) => format!("Not found: {v}"),
            FieldErrorKind::Internal => "Internal error".to_owned(),
        };
        if self.detail.is_empty() { head } else { format!("{head}: {}", self.detail) }
    }
}

impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.message())
    }
}
