//! Prints values as Go does. kube-apiserver's messages contain such text, and clients match on it.
//!
//! Documents correspond to Go's decoded JSON: `nil`, `bool`, `int64`, `float64`, `string`, `[]interface {}` and
//! `map[string]interface {}`. Go prints maps sorted by key, which is the order of documents.
use std::fmt::{self, Write};

use serde_json::{Map, Number, Value};

pub use self::float::{decimal, float, scientific};

mod float;

/// The maximum length of a document in a message, in bytes. Go has no limit, so that it answers megabytes to a patch of
/// megabytes.
const LONGEST: usize = 4_000;

/// A document in the format of `%v`: `map[name:one ports:[80 443]]`. Long ones are truncated.
pub fn plain(value: &Value) -> String {
    cut(|out| Verb::Plain.value(value, out))
}

/// Items as `%v` prints a list. Long ones are truncated.
pub fn plain_list<'v>(items: impl IntoIterator<Item = &'v Value>) -> String {
    cut(|out| Verb::Plain.list(items, out))
}

/// Fields as `%v` prints a map. Long ones are truncated.
pub fn plain_map(fields: &Map<String, Value>) -> String {
    cut(|out| Verb::Plain.map(fields, out))
}

/// A document in the format of `%#v`: `map[string]interface {}{"name":"one"}`. Long ones are truncated.
pub fn syntax(value: &Value) -> String {
    syntax_in(Verb::Syntax { map: "map[string]interface {}" }, value)
}

/// A document decoded from YAML, where keys may have any type, in the format of `%#v`. Long ones are truncated.
pub fn syntax_of_yaml(value: &Value) -> String {
    syntax_in(Verb::Syntax { map: "map[interface {}]interface {}" }, value)
}

fn syntax_in(verb: Verb, value: &Value) -> String {
    // `nil` is a typed value only within lists and maps.
    let verb = if value.is_null() { Verb::Plain } else { verb };
    cut(|out| verb.value(value, out))
}

/// Text in the format of `%q`.
pub fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    quote(text, &mut out).expect("writing to a String cannot fail");
    out
}

/// The beginning of a long text that someone else wrote, for an error.
pub fn shortened(text: &str) -> String {
    cut(|out| out.write_str(text))
}

/// The type of a value in the format of `%T`.
pub fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "<nil>",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_f64() => "float64",
        Value::Number(_) => "int64",
        Value::String(_) => "string",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
    }
}

fn number(number: &Number) -> String {
    match number.as_f64() {
        Some(double) if number.is_f64() => float(double),
        _ => number.to_string(),
    }
}

/// The printed text, truncated to [`LONGEST`].
fn cut(print: impl FnOnce(&mut BoundedWriter) -> fmt::Result) -> String {
    let mut out = BoundedWriter(String::new());
    match print(&mut out) {
        Ok(()) => out.0,
        Err(fmt::Error) => out.0 + "…",
    }
}

/// A writer that fails at its maximum length, which ends the printing.
struct BoundedWriter(String);

impl Write for BoundedWriter {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let end = text.floor_char_boundary(LONGEST - self.0.len());
        self.0.push_str(&text[..end]);
        if end == text.len() { Ok(()) } else { Err(fmt::Error) }
    }
}

/// The printing format.
#[derive(Clone, Copy)]
enum Verb {
    /// `%v`.
    Plain,
    /// `%#v`.
    Syntax {
        /// The type of maps.
        map: &'static str,
    },
}

impl Verb {
    fn value(self, value: &Value, out: &mut BoundedWriter) -> fmt::Result {
        match (value, self) {
            (Value::Null, Self::Plain) => out.write_str("<nil>"),
            (Value::Null, Self::Syntax { .. }) => out.write_str("interface {}(nil)"),
            (Value::Bool(flag), _) => write!(out, "{flag}"),
            (Value::Number(value), _) => out.write_str(&number(value)),
            (Value::String(text), _) => self.text(text, out),
            (Value::Array(items), _) => self.list(items, out),
            (Value::Object(fields), _) => self.map(fields, out),
        }
    }

    fn text(self, text: &str, out: &mut BoundedWriter) -> fmt::Result {
        match self {
            Self::Plain => out.write_str(text),
            Self::Syntax { .. } => quote(text, out),
        }
    }

    fn list<'v>(self, items: impl IntoIterator<Item = &'v Value>, out: &mut BoundedWriter) -> fmt::Result {
        let (open, separator, close) = match self {
            Self::Plain => ("[", " ", "]"),
            Self::Syntax { .. } => ("[]interface {}{", ", ", "}"),
        };
        out.write_str(open)?;
        for (index, item) in items.into_iter().enumerate() {
            out.write_str(if index > 0 { separator } else { "" })?;
            self.value(item, out)?;
        }
        out.write_str(close)
    }

    fn map(self, fields: &Map<String, Value>, out: &mut BoundedWriter) -> fmt::Result {
        let (name, open, separator, close) = match self {
            Self::Plain => ("map", "[", " ", "]"),
            Self::Syntax { map } => (map, "{", ", ", "}"),
        };
        out.write_str(name)?;
        out.write_str(open)?;
        for (index, (name, value)) in fields.iter().enumerate() {
            out.write_str(if index > 0 { separator } else { "" })?;
            self.text(name, out)?;
            out.write_str(":")?;
            self.value(value, out)?;
        }
        out.write_str(close)
    }
}

fn quote(text: &str, out: &mut impl Write) -> fmt::Result {
    out.write_char('"')?;
    for character in text.chars() {
        match (character, u32::from(character)) {
            ('"' | '\\', _) => write!(out, "\\{character}"),
            ('\u{7}', _) => out.write_str("\\a"),
            ('\u{8}', _) => out.write_str("\\b"),
            ('\t', _) => out.write_str("\\t"),
            ('\n', _) => out.write_str("\\n"),
            ('\u{b}', _) => out.write_str("\\v"),
            ('\u{c}', _) => out.write_str("\\f"),
            ('\r', _) => out.write_str("\\r"),
            _ if is_printable(character) => out.write_char(character),
            (_, code @ 0..0x80) => write!(out, "\\x{code:02x}"),
            (_, code @ 0x80..0x1_0000) => write!(out, "\\u{code:04x}"),
            (_, code) => write!(out, "\\U{code:08x}"),
        }?;
    }
    out.write_char('"')
}

/// Go's `unicode.IsPrint`: letters, marks, numbers, punctuation, symbols and the ASCII space.
fn is_printable(character: char) -> bool {
    if character.is_ascii() {
        return !character.is_ascii_control();
    }
    // Rust escapes characters that are not printable, and a combining mark at the beginning of a text.
    let mut buffer = [b'_'; 5];
    let end = 1 + character.encode_utf8(&mut buffer[1..]).len();
    let text = str::from_utf8(&buffer[..end]).expect("a character is UTF-8");
    text.escape_debug().nth(1) == Some(character)
}

#[cfg(test)]
mod tests;
