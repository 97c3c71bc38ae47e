//! JSON text: values as kube-apiserver prints them, and their numbers.
use std::io::Write;

use serde::Deserialize;
use serde_json::{Number, Value as Document};

use number::text_of_double;

pub mod number;
pub mod plain;

/// Appends a document as JSON: keys sorted, numbers as kube-apiserver prints them.
pub fn encode(document: &Document, out: &mut Vec<u8>) {
    match document {
        Document::Null => out.extend_from_slice(b"null"),
        Document::Bool(true) => out.extend_from_slice(b"true"),
        Document::Bool(false) => out.extend_from_slice(b"false"),
        Document::Number(number) => write_number(number, out),
        Document::String(text) => quote(text, out),
        Document::Array(items) => {
            let mut separator = b'[';
            for item in items {
                out.push(separator);
                encode(item, out);
                separator = b',';
            }
            if items.is_empty() {
                out.push(b'[');
            }
            out.push(b']');
        }
        Document::Object(fields) => {
            let mut separator = b'{';
            for (name, value) in fields {
                out.push(separator);
                write_member(name, value, out);
                separator = b',';
            }
            if fields.is_empty() {
                out.push(b'{');
            }
            out.push(b'}');
        }
    }
}

/// How deep the JSON that [`decode`] reads may nest.
const DEPTH: usize = 256;

/// Decodes JSON text that other programs wrote. Numbers are normalized.
///
/// # Errors
/// Why it is not JSON, or that it nests more than 256 deep.
pub fn decode(text: &[u8]) -> Result<Document, String> {
    let (mut depth, mut deepest, mut rest) = (0_usize, 0, text.iter());
    while let Some(byte) = rest.next() {
        match byte {
            b'"' => while rest.next().is_some_and(|byte| *byte != b'"' && (*byte != b'\\' || rest.next().is_some())) {},
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    if deepest > DEPTH {
        return Err(format!("nested more than {DEPTH} deep"));
    }
    let mut json = serde_json::Deserializer::from_slice(text);
    json.disable_recursion_limit();
    let mut document = Document::deserialize(&mut json).map_err(|error| error.to_string())?;
    json.end().map_err(|error| error.to_string())?;
    number::settle(&mut document);
    Ok(document)
}

/// The approximate length of a document as JSON; exact except for escapes and numbers.
pub fn size(document: &Document) -> usize {
    match document {
        Document::Null | Document::Bool(_) => 4,
        Document::Number(_) => 8,
        Document::String(text) => text.len() + 2,
        Document::Array(items) => 2 + items.iter().map(|item| size(item) + 1).sum::<usize>(),
        Document::Object(fields) => 2 + fields.iter().map(|(name, value)| name.len() + 4 + size(value)).sum::<usize>(),
    }
}

/// Appends a member of an object: its name, a colon, its value.
pub fn write_member(name: &str, value: &Document, out: &mut Vec<u8>) {
    quote(name, out);
    out.push(b':');
    encode(value, out);
}

fn write_number(number: &Number, out: &mut Vec<u8>) {
    let written = match (number.as_i64(), number.as_f64()) {
        (Some(integer), _) => write!(out, "{integer}"),
        (None, Some(double)) => write!(out, "{}", text_of_double(double)),
        (None, None) => write!(out, "{number}"),
    };
    written.expect("writing to a Vec cannot fail");
}

/// Appends text in quotes.
pub fn quote(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    let mut rest = text.as_bytes();
    loop {
        let (plain, special) = rest.split_at(plain::length(rest));
        out.extend_from_slice(plain);
        let Some((special, after)) = special.split_first() else { break };
        write_escape(*special, out);
        rest = after;
    }
    out.push(b'"');
}

fn write_escape(byte: u8, out: &mut Vec<u8>) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let short = match byte {
        b'"' | b'\\' => byte,
        b'\n' => b'n',
        b'\t' => b't',
        b'\r' => b'r',
        0x08 => b'b',
        0x0c => b'f',
        _ => {
            out.extend_from_slice(b"\\u00");
            out.push(HEX[usize::from(byte >> 4)]);
            out.push(HEX[usize::from(byte & 15)]);
            return;
        }
    };
    out.extend_from_slice(&[b'\\', short]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decoding_limits_nesting_outside_of_texts() {
        let nested = |depth: usize| format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
        assert!(decode(nested(DEPTH).as_bytes()).is_ok());
        assert_eq!(decode(nested(DEPTH + 1).as_bytes()), Err("nested more than 256 deep".to_owned()));
        let text = format!(r#"{{"a\"\\":"{}","b":1e2}}"#, "[{".repeat(DEPTH));
        let decoded = decode(text.as_bytes()).expect("brackets in texts do not nest");
        assert_eq!(decoded["b"], Document::from(100));
        for invalid in ["", "{", "[1]]", "\"a", "\"\\", "{\"a\":1} 2"] {
            assert!(decode(invalid.as_bytes()).is_err(), "{invalid}");
        }
    }
}
