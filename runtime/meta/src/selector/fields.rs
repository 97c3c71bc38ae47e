//! Field selectors: `metadata.name=a,status.phase!=Ready`. A parsed selector prints to text that parses to the same
//! selector.
use std::fmt;

use super::MAX_LENGTH;

/// One term of a field selector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldTerm {
    /// The field, such as `metadata.name`.
    pub field: Box<str>,
    /// True for `=`, false for `!=`.
    pub equal: bool,
    /// The value.
    pub value: Box<str>,
}

/// A field selector: all terms must match. An empty selector matches everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fields(Vec<FieldTerm>);

impl Fields {
    /// Parses a selector. A backslash escapes a comma, an equals sign or a backslash in a value.
    ///
    /// # Errors
    /// The message for the client.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.len() > MAX_LENGTH {
            return Err(super::too_long("field", text.len()));
        }
        let mut parts = split(text);
        parts.sort_unstable();
        let terms = parts.into_iter().filter(|part| !part.is_empty());
        let mut terms: Vec<FieldTerm> = terms.map(|part| term(part, text)).collect::<Result<_, _>>()?;
        // Sort again by the printed form: `==` sorts differently from `=`.
        terms.sort_by_cached_key(FieldTerm::to_string);
        Ok(Self(terms))
    }

    /// A selector of these terms.
    pub fn new(terms: Vec<FieldTerm>) -> Self {
        Self(terms)
    }

    /// True if the selector matches everything.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The terms, sorted.
    pub fn terms(&self) -> &[FieldTerm] {
        &self.0
    }

    /// The value that a field must have for any object to match, if there is one.
    pub fn pins(&self, field: &str) -> Option<&str> {
        self.0.iter().find(|t| t.equal && &*t.field == field).map(|t| &*t.value)
    }

    /// True if an object matches; the closure returns the value of a field, or an empty text if it is absent.
    pub fn matches<'a>(&self, value_of: impl Fn(&str) -> &'a str) -> bool {
        self.0.iter().all(|term| (value_of(&term.field) == &*term.value) == term.equal)
    }
}

/// Splits the text at unescaped commas.
fn split(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut start, mut escaped) = (0, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b',' => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

fn term(part: &str, whole: &str) -> Result<FieldTerm, String> {
    let operators = |at: usize| ["!=", "==", "="].into_iter().find(|o| part[at..].starts_with(o)).map(|o| (at, o));
    let Some((at, operator)) = part.char_indices().find_map(|(at, _)| operators(at)) else {
        return Err(format!("invalid selector: '{whole}'; can't understand '{part}'"));
    };
    let value = unescape(&part[at + operator.len()..])?;
    Ok(FieldTerm { field: part[..at].into(), equal: operator != "!=", value: value.into() })
}

fn unescape(text: &str) -> Result<String, String> {
    let mut value = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(c) = characters.next() {
        match c {
            '\\' => match characters.next() {
                Some(c @ ('\\' | ',' | '=')) => value.push(c),
                Some(other) => return Err(format!("invalid field selector: invalid escape sequence: \\{other}")),
                None => return Err("invalid field selector: invalid escape sequence: \\".to_owned()),
            },
            ',' | '=' => {
                return Err(format!("invalid field selector: unescaped character in value: {}", u32::from(c)));
            }
            _ => value.push(c),
        }
    }
    Ok(value)
}

impl fmt::Display for FieldTerm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.field, if self.equal { "=" } else { "!=" })?;
        for c in self.value.chars() {
            if matches!(c, '\\' | ',' | '=') {
                f.write_str("\\")?;
            }
            write!(f, "{c}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Fields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, term) in self.0.iter().enumerate() {
            let comma = if at > 0 { "," } else { "" };
            write!(f, "{comma}{term}")?;
        }
        Ok(())
    }
}
