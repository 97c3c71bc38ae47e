//! One step of a path to a field.
use std::{borrow::Cow, cmp::Ordering, fmt::Write};

use serde_json::Map;

use super::value;
use crate::{
    meta::go,
    schema::{Document, number},
};

/// A step from a container to what it holds. Borrows from the documents where it can.
#[derive(Clone, Debug)]
pub(super) enum Element<'a> {
    /// A field of a struct, or an entry of a map.
    Field(&'a str),
    /// An item of a list map: its keys and their values, sorted by key.
    Key(Vec<(Cow<'a, str>, Cow<'a, Document>)>),
    /// An item of a set.
    Value(Cow<'a, Document>),
    /// An item of a list by its place. Nothing here makes them; they are kept where a client has sent them.
    Index(i64),
}

/// Why text is not an element.
pub(super) enum ElementError {
    /// Its kind is not known: whoever knows it may keep it, here it is dropped.
    Unknown,
    /// It is none.
    Malformed(String),
}

impl Ord for Element<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Field(a), Self::Field(b)) => a.cmp(b),
            (Self::Key(a), Self::Key(b)) => {
                let parts = a.iter().zip(b);
                let differ = parts.map(|(a, b)| a.0.cmp(&b.0).then_with(|| value::compare(&a.1, &b.1)));
                differ.into_iter().find(|order| order.is_ne()).unwrap_or_else(|| a.len().cmp(&b.len()))
            }
            (Self::Value(a), Self::Value(b)) => value::compare(a, b),
            (Self::Index(a), Self::Index(b)) => a.cmp(b),
            _ => self.rank().cmp(&other.rank()),
        }
    }
}

impl PartialOrd for Element<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Element<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Element<'_> {}

impl<'a> Element<'a> {
    fn rank(&self) -> u8 {
        match self {
            Self::Field(_) => 0,
            Self::Key(_) => 1,
            Self::Value(_) => 2,
            Self::Index(_) => 3,
        }
    }

    /// Reads an element as FieldsV1 writes it.
    pub(super) fn parse(text: &'a str) -> Result<Self, ElementError> {
        let malformed = |why: String| ElementError::Malformed(why);
        let not_json = |error: serde_json::Error| malformed(format!("{}: {error}", go::quoted(text)));
        let (kind, rest) = match text.as_bytes() {
            [_, b':', ..] => text.split_at(2),
            [_, _, ..] => return Err(malformed(format!("missing colon: {text}"))),
            _ => return Err(malformed("key must be 2 characters long:".to_owned())),
        };
        match kind {
            "f:" => Ok(Self::Field(rest)),
            "v:" => {
                let mut value = match plain_text(rest) {
                    Some(plain) => Document::from(plain),
                    None => serde_json::from_str(rest).map_err(not_json)?,
                };
                number::settle(&mut value);
                Ok(Self::Value(Cow::Owned(value)))
            }
            "k:" => {
                let keys: Map<String, Document> = serde_json::from_str(rest).map_err(not_json)?;
                let owned = |(name, mut value): (String, Document)| {
                    number::settle(&mut value);
                    (Cow::Owned(name), Cow::Owned(value))
                };
                Ok(Self::Key(keys.into_iter().map(owned).collect()))
            }
            "i:" => rest.parse().map(Self::Index).map_err(|error| malformed(format!("{}: {error}", go::quoted(text)))),
            _ => Err(ElementError::Unknown),
        }
    }

    /// Writes the element as FieldsV1 does.
    pub(super) fn serialize(&self) -> String {
        match self {
            Self::Field(name) => ["f:", name].concat(),
            Self::Value(value) => format!("v:{}", json(value)),
            Self::Index(index) => format!("i:{index}"),
            Self::Key(keys) => {
                let mut out = String::from("k:{");
                for (index, (name, value)) in keys.iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    out.push_str(&json(&Document::from(name.as_ref())));
                    out.push(':');
                    out.push_str(&json(value));
                }
                out.push('}');
                out
            }
        }
    }

    /// Adds the element to a path for people: `.spec`, `[name="http"]`, `[="a"]`, `[0]`.
    pub(super) fn print(&self, out: &mut String) {
        match self {
            Self::Field(name) => {
                out.push('.');
                out.push_str(name);
            }
            Self::Index(index) => {
                write!(out, "[{index}]").expect("writing to a String cannot fail");
            }
            Self::Value(value) => {
                out.push_str("[=");
                value::print(value, out);
                out.push(']');
            }
            Self::Key(keys) => {
                out.push('[');
                for (index, (name, value)) in keys.iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    out.push_str(name);
                    out.push('=');
                    value::print(value, out);
                }
                out.push(']');
            }
        }
    }
}

/// The text inside quotes, where nothing in it is escaped.
fn plain_text(json: &str) -> Option<&str> {
    let inner = json.strip_prefix('"')?.strip_suffix('"')?;
    inner.bytes().all(|byte| byte >= b' ' && byte != b'"' && byte != b'\\').then_some(inner)
}

/// JSON as Go writes it: what HTML gives a meaning to is escaped.
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
