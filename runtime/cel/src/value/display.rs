//! Values in the texts of errors, as Go prints those of cel-go.
use std::fmt;

use super::{Map, Value};

impl fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("0"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Int(value) => write!(f, "{value}"),
            Self::Uint(value) => write!(f, "{value}"),
            Self::Double(value) => f.write_str(&go_double(*value)),
            Self::String(text) => f.write_str(text),
            Self::Bytes(bytes) => {
                let bytes: Vec<_> = bytes.iter().map(u8::to_string).collect();
                write!(f, "[{}]", bytes.join(" "))
            }
            Self::Duration(value) => f.write_str(&value.go_text()),
            Self::Timestamp(value) => f.write_str(&value.go_text()),
            Self::List(list) => {
                f.write_str("[")?;
                for (index, item) in list.iter().enumerate() {
                    separate(f, index)?;
                    print_part(f, &item)?;
                }
                f.write_str("]")
            }
            Self::Map(map) => print_map(f, map),
            Self::Optional(Some(value)) => {
                f.write_str("optional(")?;
                print_inner(f, value)?;
                f.write_str(")")
            }
            Self::Optional(None) => f.write_str("optional.none()"),
            Self::Type(name) => f.write_str(name),
            Self::Opaque(value) => write!(f, "{value:?}"),
        }
    }
}

fn print_map(f: &mut fmt::Formatter<'_>, map: &Map<'_>) -> fmt::Result {
    f.write_str("{")?;
    for (index, (key, value)) in map.iter().enumerate() {
        separate(f, index)?;
        print_inner(f, &key)?;
        f.write_str(": ")?;
        print_part(f, &value)?;
    }
    f.write_str("}")
}

fn separate(f: &mut fmt::Formatter<'_>, index: usize) -> fmt::Result {
    if index > 0 { f.write_str(", ") } else { Ok(()) }
}

fn print_part(f: &mut fmt::Formatter<'_>, part: &Result<Value<'_>, crate::Error>) -> fmt::Result {
    match part {
        Ok(value) => print_inner(f, value),
        Err(error) => write!(f, "{error}"),
    }
}

/// A value within another. The precision is how deep it is.
fn print_inner(f: &mut fmt::Formatter<'_>, value: &Value<'_>) -> fmt::Result {
    let depth = f.precision().unwrap_or(0) + 1;
    if depth > Value::DEEPEST { f.write_str("…") } else { write!(f, "{value:.depth$}") }
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
