//! Path elements: one step of a path to a field, as written in `fieldsV1` and in messages.
use std::{borrow::Cow, cmp::Ordering, fmt::Write};

use serde_json::Map;

use crate::{
    meta::go,
    schema::{Document, number},
};

/// A step from a container to its content. Borrows from the documents if possible.
#[derive(Clone, Debug)]
pub(super) enum PathElement<'a> {
    /// A field of a struct, or an entry of a map.
    Field(&'a str),
    /// An item of a list map: its keys and their values, sorted by key.
    Key(Vec<(Cow<'a, str>, Cow<'a, Document>)>),
    /// An item of a set.
    Value(Cow<'a, Document>),
    /// An item of a list by its index. The server creates none, but keeps those of clients.
    Index(i64),
}

/// Why text is not a path element.
pub(super) enum ParseError {
    /// It is of an unknown kind, which a later version may support; here it is dropped.
    UnknownKind,
    /// It is malformed.
    Malformed(String),
}

impl Ord for PathElement<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Field(a), Self::Field(b)) => a.cmp(b),
            (Self::Key(a), Self::Key(b)) => compare_all(a, b, |a, b| a.0.cmp(&b.0).then_with(|| compare(&a.1, &b.1))),
            (Self::Value(a), Self::Value(b)) => compare(a, b),
            (Self::Index(a), Self::Index(b)) => a.cmp(b),
            _ => self.rank().cmp(&other.rank()),
        }
    }
}

impl PartialOrd for PathElement<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for PathElement<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for PathElement<'_> {}

impl<'a> PathElement<'a> {
    fn rank(&self) -> u8 {
        match self {
            Self::Field(_) => 0,
            Self::Key(_) => 1,
            Self::Value(_) => 2,
            Self::Index(_) => 3,
        }
    }

    /// Parses an element of `fieldsV1`.
    ///
    /// # Errors
    /// [`ParseError`].
    pub(super) fn parse(text: &'a str) -> Result<Self, ParseError> {
        let not_json = |error: serde_json::Error| ParseError::Malformed(format!("{}: {error}", go::quoted(text)));
        let (kind, rest) = match text.as_bytes() {
            [_, b':', ..] => text.split_at(2),
            [_, _, ..] => return Err(ParseError::Malformed(format!("missing colon: {text}"))),
            _ => return Err(ParseError::Malformed("key must be 2 characters long:".to_owned())),
        };
        let settled = |mut value: Document| {
            number::settle(&mut value);
            Cow::Owned(value)
        };
        match kind {
            "f:" => Ok(Self::Field(rest)),
            "v:" => {
                let plain = plain_text(rest).map(|plain| Ok(Document::from(plain)));
                plain
                    .unwrap_or_else(|| serde_json::from_str(rest))
                    .map(|value| Self::Value(settled(value)))
                    .map_err(not_json)
            }
            "k:" => {
                let keys: Map<String, Document> = serde_json::from_str(rest).map_err(not_json)?;
                Ok(Self::Key(keys.into_iter().map(|(name, value)| (Cow::Owned(name), settled(value))).collect()))
            }
            "i:" => rest
                .parse()
                .map(Self::Index)
                .map_err(|error| ParseError::Malformed(format!("{}: {error}", go::quoted(text)))),
            _ => Err(ParseError::UnknownKind),
        }
    }

    /// Writes the element for `fieldsV1`.
    pub(super) fn serialize(&self) -> String {
        match self {
            Self::Field(name) => ["f:", name].concat(),
            Self::Value(value) => format!("v:{}", json(value)),
            Self::Index(index) => format!("i:{index}"),
            Self::Key(keys) => {
                let mut out = String::from("k:{");
                for (index, (name, value)) in keys.iter().enumerate() {
                    out.push_str(if index > 0 { "," } else { "" });
                    out.push_str(&json(&Document::from(name.as_ref())));
                    out.push(':');
                    out.push_str(&json(value));
                }
                out.push('}');
                out
            }
        }
    }

    /// Appends the element to a path in a message: `.spec`, `[name="http"]`, `[="a"]`, `[0]`.
    pub(super) fn print(&self, out: &mut String) {
        match self {
            Self::Field(name) => {
                out.push('.');
                out.push_str(name);
            }
            Self::Index(index) => write!(out, "[{index}]").expect("writing to a String cannot fail"),
            Self::Value(value) => {
                out.push_str("[=");
                print(value, out);
                out.push(']');
            }
            Self::Key(keys) => {
                for (index, (name, value)) in keys.iter().enumerate() {
                    out.push(if index > 0 { ',' } else { '[' });
                    out.push_str(name);
                    out.push('=');
                    print(value, out);
                }
                out.push(']');
            }
        }
    }
}

/// A total order of values of any type: numbers, text, booleans, lists, maps, null.
fn compare(a: &Document, b: &Document) -> Ordering {
    match (a, b) {
        (Document::Number(a), Document::Number(b)) => match (a.as_i64(), b.as_i64()) {
            (Some(a), Some(b)) => a.cmp(&b),
            _ => a.as_f64().partial_cmp(&b.as_f64()).unwrap_or(Ordering::Equal),
        },
        (Document::String(a), Document::String(b)) => a.cmp(b),
        (Document::Bool(a), Document::Bool(b)) => a.cmp(b),
        (Document::Array(a), Document::Array(b)) => compare_all(a, b, compare),
        (Document::Object(a), Document::Object(b)) => {
            compare_all(a, b, |a, b| a.0.cmp(b.0).then_with(|| compare(a.1, b.1)))
        }
        _ => rank(a).cmp(&rank(b)),
    }
}

/// Compares parts one by one; if all are equal, the shorter comes first.
fn compare_all<I: IntoIterator>(a: I, b: I, compare: impl Fn(I::Item, I::Item) -> Ordering) -> Ordering {
    let (mut a, mut b) = (a.into_iter(), b.into_iter());
    loop {
        match (a.next(), b.next()) {
            (Some(a), Some(b)) => match compare(a, b) {
                Ordering::Equal => {}
                order => return order,
            },
            (a, b) => return a.is_some().cmp(&b.is_some()),
        }
    }
}

fn rank(value: &Document) -> u8 {
    match value {
        Document::Number(_) => 0,
        Document::String(_) => 1,
        Document::Bool(_) => 2,
        Document::Array(_) => 3,
        Document::Object(_) => 4,
        Document::Null => 5,
    }
}

/// Appends the value of a key or an item to a path in a message.
fn print(value: &Document, out: &mut String) {
    match value {
        Document::String(text) => out.push_str(&go::quoted(text)),
        Document::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                out.push_str(if index > 0 { "," } else { "" });
                print(item, out);
            }
            out.push(']');
        }
        Document::Object(fields) => {
            for (name, value) in fields {
                out.push_str(name);
                out.push('=');
                print(value, out);
            }
        }
        Document::Null => out.push_str("null"),
        scalar => out.push_str(&go::plain(scalar)),
    }
}

/// The text inside quotes, if it has no escapes.
fn plain_text(json: &str) -> Option<&str> {
    let inner = json.strip_prefix('"')?.strip_suffix('"')?;
    inner.bytes().all(|byte| byte >= b' ' && byte != b'"' && byte != b'\\').then_some(inner)
}

/// JSON as Go writes it: with escapes for characters that have a meaning in HTML.
pub(super) fn json(value: &Document) -> String {
    let text = value.to_string();
    if !text.contains(['<', '>', '&', '\u{2028}', '\u{2029}']) {
        return text;
    }
    let mut out = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        match character {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                write!(out, "\\u{:04x}", u32::from(character)).expect("writing to a String cannot fail");
            }
            other => out.push(other),
        }
    }
    out
}
