//! Values as ownership compares, orders and prints them.
use std::{cmp::Ordering, fmt::Write};

use crate::schema::{Document, number};
/// A total order over values of any type: numbers, text, booleans, lists, maps, null.
pub(super) fn compare(a: &Document, b: &Document) -> Ordering {
    match (a, b) {
        (Document::Number(a), Document::Number(b)) => match (a.as_i64(), b.as_i64()) {
            (Some(a), Some(b)) => a.cmp(&b),
            _ => a.as_f64().partial_cmp(&b.as_f64()).unwrap_or(Ordering::Equal),
        },
        (Document::String(a), Document::String(b)) => a.cmp(b),
        (Document::Bool(a), Document::Bool(b)) => a.cmp(b),
        (Document::Array(a), Document::Array(b)) => {
            let differ = a.iter().zip(b).map(|(a, b)| compare(a, b)).find(|order| order.is_ne());
            differ.unwrap_or_else(|| a.len().cmp(&b.len()))
        }
        (Document::Object(a), Document::Object(b)) => {
            let entries = a.iter().zip(b);
            let differ = entries.map(|(a, b)| a.0.cmp(b.0).then_with(|| compare(a.1, b.1))).find(|order| order.is_ne());
            differ.unwrap_or_else(|| a.len().cmp(&b.len()))
        }
        _ => rank(a).cmp(&rank(b)),
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

/// A key's or item's value in a path: text is quoted.
pub(super) fn print(value: &Document, out: &mut String) {
    match value {
        Document::String(text) => quote(text, out),
        Document::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
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
        scalar => out.push_str(&scalar.to_string()),
    }
}

/// A value as Go's `%v` prints it.
pub(super) fn plain(value: &Document, out: &mut String) {
    match value {
        Document::Null => out.push_str("<nil>"),
        Document::Bool(flag) => out.push_str(if *flag { "true" } else { "false" }),
        Document::Number(number) => match number.as_f64() {
            Some(double) if !number.is_i64() => out.push_str(&number::text_of_double(double)),
            _ => out.push_str(&number.to_string()),
        },
        Document::String(text) => out.push_str(text),
        Document::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(' ');
                }
                plain(item, out);
            }
            out.push(']');
        }
        Document::Object(fields) => {
            out.push_str("map[");
            for (index, (name, value)) in fields.iter().enumerate() {
                if index > 0 {
                    out.push(' ');
                }
                out.push_str(name);
                out.push(':');
                plain(value, out);
            }
            out.push(']');
        }
    }
}

/// A value as Go's `%#v` prints it.
pub(super) fn syntax(value: &Document, out: &mut String) {
    match value {
        Document::String(text) => quote(text, out),
        Document::Array(items) => {
            out.push_str("[]interface {}{");
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push_str(", ");
                }
                syntax(item, out);
            }
            out.push('}');
        }
        Document::Object(fields) => {
            out.push_str("map[string]interface {}{");
            for (index, (name, value)) in fields.iter().enumerate() {
                if index > 0 {
                    out.push_str(", ");
                }
                quote(name, out);
                out.push(':');
                syntax(value, out);
            }
            out.push('}');
        }
        scalar => plain(scalar, out),
    }
}

/// Text in quotes, as Go's `%q` prints it.
pub(super) fn quote(text: &str, out: &mut String) {
    out.push('"');
    for character in text.chars() {
        let written = match character {
            '"' => out.write_str("\\\""),
            '\\' => out.write_str("\\\\"),
            '\n' => out.write_str("\\n"),
            '\r' => out.write_str("\\r"),
            '\t' => out.write_str("\\t"),
            '\u{7}' => out.write_str("\\a"),
            '\u{8}' => out.write_str("\\b"),
            '\u{b}' => out.write_str("\\v"),
            '\u{c}' => out.write_str("\\f"),
            control if control.is_ascii_control() => write!(out, "\\x{:02x}", u32::from(control)),
            control if control.is_control() => write!(out, "\\u{:04x}", u32::from(control)),
            other => out.write_char(other),
        };
        written.expect("writing to a String cannot fail");
    }
    out.push('"');
}

/// How Go names the value's type.
pub(super) fn type_name(value: &Document) -> &'static str {
    match value {
        Document::Null => "<nil>",
        Document::Bool(_) => "bool",
        Document::Number(number) if number.is_i64() => "int64",
        Document::Number(_) => "float64",
        Document::String(_) => "string",
        Document::Array(_) => "[]interface {}",
        Document::Object(_) => "map[string]interface {}",
    }
}
