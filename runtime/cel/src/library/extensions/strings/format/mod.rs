//! `format`: texts with clauses such as `%s` and `%.2f`.
//!
//! `clause` reads clauses. `locale` prints values as versions 1 to 3 do (numbers as in American English), `plain` as later ones do.
//! `validate` finds errors in formats that are literals.
use crate::{
    Error, Meter, Value,
    library::extensions::{grow_text, read_text},
    value::{List, Map},
};

mod clause;
mod locale;
mod plain;
mod validate;

use self::clause::{Clause, Verb};
pub(super) use self::validate::{validate_locale, validate_plain};

/// How values are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// Numbers as in American English: versions 1 to 3.
    Locale,
    /// As the specification of the language says.
    Plain,
}

/// Prints a value.
type Print = fn(&Value<'_>, &mut Output<'_>) -> Result<(), Error>;

/// The text of a format with its values.
pub(super) fn format<'a>(style: Style, format: &str, values: &List<'a>, meter: &dyn Meter) -> Result<Value<'a>, Error> {
    read_text(meter, format)?;
    let mut output = Output { text: String::new(), depth: 0, meter };
    let mut rest = format;
    let mut index = 0;
    while let Some((before, after)) = rest.split_once('%') {
        output.push(before)?;
        if let Some(after) = after.strip_prefix('%') {
            output.push("%")?;
            rest = after;
            continue;
        }
        let value = values.get(index).ok_or_else(|| Error::new(clause::out_of_range(index)))??;
        let (clause, after) = Clause::read(after, style).map_err(Error::new)?;
        print(style, clause, &value, &mut output).map_err(in_formatting)?;
        rest = after;
        index += 1;
    }
    output.push(rest)?;
    Ok(output.text.into())
}

fn in_formatting(error: Error) -> Error {
    if error.is_fatal() { error } else { Error::new(format!("error during formatting: {}", error.message)) }
}

/// What is printed so far.
struct Output<'m> {
    text: String,
    /// How deep what is printed is within lists and maps.
    depth: usize,
    meter: &'m dyn Meter,
}

impl Output<'_> {
    fn push(&mut self, text: &str) -> Result<(), Error> {
        grow_text(self.meter, self.text.len(), text.len())?;
        self.text.push_str(text);
        Ok(())
    }

    /// Begins a list or a map, which `end` ends.
    fn begin(&mut self, bracket: &str) -> Result<(), Error> {
        self.depth += 1;
        if self.depth > Value::DEEPEST { Err(Error::interrupted()) } else { self.push(bracket) }
    }

    fn end(&mut self, bracket: &str) -> Result<(), Error> {
        self.depth -= 1;
        self.push(bracket)
    }

    /// What is printed apart.
    fn apart(&self, print: impl FnOnce(&mut Self) -> Result<(), Error>) -> Result<String, Error> {
        let mut output = Output { text: String::new(), ..*self };
        print(&mut output)?;
        Ok(output.text)
    }

    /// Prints a list.
    fn list(&mut self, items: &List<'_>, print: Print) -> Result<(), Error> {
        self.begin("[")?;
        for (index, item) in items.iter().enumerate() {
            if index > 0 {
                self.push(", ")?;
            }
            print(&item?, self)?;
        }
        self.end("]")
    }

    /// Prints a map: its entries in the order of their printed keys.
    fn map(&mut self, entries: &Map<'_>, colon: &str, print_key: Print, print: Print) -> Result<(), Error> {
        self.begin("{")?;
        let mut printed = Vec::new();
        for (key, value) in entries {
            let key = self.apart(|output| print_key(&key, output))?;
            printed.push((key, self.apart(|output| print(&value?, output))?));
        }
        printed.sort_by(|left, right| left.0.cmp(&right.0));
        for (index, (key, value)) in printed.iter().enumerate() {
            let separator = if index > 0 { ", " } else { "" };
            for text in [separator, key, colon, value] {
                self.push(text)?;
            }
        }
        self.end("}")
    }
}

fn print(style: Style, clause: Clause, value: &Value<'_>, output: &mut Output<'_>) -> Result<(), Error> {
    let text = match (clause.verb, style) {
        (Verb::String, Style::Locale) => return locale::string(value, output),
        (Verb::String, Style::Plain) => return plain::string(value, output),
        (Verb::Hexadecimal { upper }, _) => hexadecimal(value, upper, output.meter)?,
        (Verb::Decimal, Style::Locale) => locale::decimal(value),
        (Verb::Decimal, Style::Plain) => plain::decimal(value),
        (Verb::Fixed, Style::Locale) => locale::fixed(value, clause.precision),
        (Verb::Fixed, Style::Plain) => plain::fixed(value, clause.precision),
        (Verb::Scientific, Style::Locale) => locale::scientific(value, clause.precision),
        (Verb::Scientific, Style::Plain) => plain::scientific(value, clause.precision),
        (Verb::Binary, _) => binary(value),
        (Verb::Octal, _) => octal(value),
    };
    let text = text.ok_or_else(|| Error::new(clause.verb.rejection(style, value.type_name())))?;
    output.push(&text)
}

fn binary(value: &Value<'_>) -> Option<String> {
    match value {
        Value::Int(value) => Some(format!("{}{:b}", sign(*value), value.unsigned_abs())),
        Value::Uint(value) => Some(format!("{value:b}")),
        Value::Bool(value) => Some(u8::from(*value).to_string()),
        _ => None,
    }
}

fn octal(value: &Value<'_>) -> Option<String> {
    match value {
        Value::Int(value) => Some(format!("{}{:o}", sign(*value), value.unsigned_abs())),
        Value::Uint(value) => Some(format!("{value:o}")),
        _ => None,
    }
}

fn hexadecimal(value: &Value<'_>, upper: bool, meter: &dyn Meter) -> Result<Option<String>, Error> {
    let text = match value {
        Value::Int(value) => format!("{}{:x}", sign(*value), value.unsigned_abs()),
        Value::Uint(value) => format!("{value:x}"),
        Value::String(text) => digits(text.as_bytes(), meter)?,
        Value::Bytes(bytes) => digits(bytes, meter)?,
        _ => return Ok(None),
    };
    Ok(Some(if upper { text.to_ascii_uppercase() } else { text }))
}

fn digits(bytes: &[u8], meter: &dyn Meter) -> Result<String, Error> {
    grow_text(meter, 0, bytes.len().saturating_mul(2))?;
    let digit = |half: u8| char::from_digit(half.into(), 16).unwrap_or('0');
    Ok(bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect())
}

fn sign(value: i64) -> &'static str {
    if value < 0 { "-" } else { "" }
}
