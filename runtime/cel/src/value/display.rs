//! Values in the texts of errors, as Go prints those of cel-go.
use std::fmt::{self, Write as _};

use super::{Map, Value};

/// So much of a value is printed: it may have another one many times in it.
const LONGEST: usize = 64 << 10;

impl fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        print(self, 0, &mut Beginning { text: f, left: LONGEST })
    }
}

/// Prints the beginning of what is written.
struct Beginning<'f, 't> {
    text: &'f mut fmt::Formatter<'t>,
    /// How many bytes are left.
    left: usize,
}

impl fmt::Write for Beginning<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let end = text.floor_char_boundary(self.left);
        self.left = if end < text.len() { 0 } else { self.left - end };
        self.text.write_str(&text[..end])
    }
}

fn print(value: &Value<'_>, depth: usize, out: &mut Beginning<'_, '_>) -> fmt::Result {
    if depth > Value::DEEPEST {
        return out.write_str("…");
    }
    match value {
        Value::Null => out.write_str("0"),
        Value::Bool(value) => write!(out, "{value}"),
        Value::Int(value) => write!(out, "{value}"),
        Value::Uint(value) => write!(out, "{value}"),
        Value::Double(value) => out.write_str(&go_double(*value)),
        Value::String(text) => out.write_str(text),
        Value::Bytes(bytes) => {
            let bytes: Vec<_> = bytes.iter().take(LONGEST).map(u8::to_string).collect();
            write!(out, "[{}]", bytes.join(" "))
        }
        Value::Duration(value) => out.write_str(&value.go_text()),
        Value::Timestamp(value) => out.write_str(&value.go_text()),
        Value::List(list) => {
            out.write_str("[")?;
            for (index, item) in list.iter().enumerate() {
                if out.left == 0 {
                    return Ok(());
                }
                separate(index, out)?;
                print_part(&item, depth, out)?;
            }
            out.write_str("]")
        }
        Value::Map(map) => print_map(map, depth, out),
        Value::Optional(Some(value)) => {
            out.write_str("optional(")?;
            print(value, depth + 1, out)?;
            out.write_str(")")
        }
        Value::Optional(None) => out.write_str("optional.none()"),
        Value::Type(name) => out.write_str(name),
        Value::Opaque(value) => write!(out, "{value:?}"),
    }
}

fn print_map(map: &Map<'_>, depth: usize, out: &mut Beginning<'_, '_>) -> fmt::Result {
    out.write_str("{")?;
    for (index, (key, value)) in map.iter().enumerate() {
        if out.left == 0 {
            return Ok(());
        }
        separate(index, out)?;
        print(&key, depth + 1, out)?;
        out.write_str(": ")?;
        print_part(&value, depth, out)?;
    }
    out.write_str("}")
}

fn separate(index: usize, out: &mut Beginning<'_, '_>) -> fmt::Result {
    if index > 0 { out.write_str(", ") } else { Ok(()) }
}

fn print_part(part: &Result<Value<'_>, crate::Error>, depth: usize, out: &mut Beginning<'_, '_>) -> fmt::Result {
    match part {
        Ok(value) => print(value, depth + 1, out),
        Err(error) => write!(out, "{error}"),
    }
}

/// A double as Go prints it (`%g` with as many digits as it needs): `1.5`, `1e+06`, `2e-09`.
pub(crate) fn go_double(value: f64) -> String {
    if value.is_nan() {
        return "NaN".into();
    }
    if value.is_infinite() {
        return if value > 0.0 { "+Inf".into() } else { "-Inf".into() };
    }
    kindsmith_meta::go::float(value)
}
