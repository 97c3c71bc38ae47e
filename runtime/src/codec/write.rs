//! Documents to JSON text.
use std::io::Write;

use serde_json::{Map, Number};

use super::plain;
use crate::schema::{Document, number::text_of_double};

/// Appends a document as JSON: keys sorted, numbers as the reference prints them.
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
        Document::Object(fields) => write_fields(fields, &[], out),
    }
}

/// Appends the canonical body of an object: `metadata` first and without `resourceVersion`, then the other keys in
/// order, without `apiVersion` and `kind`.
pub fn canonical(document: &Document, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"metadata\":");
    match document.get("metadata") {
        Some(Document::Object(metadata)) => write_fields(metadata, &["resourceVersion"], out),
        _ => out.extend_from_slice(b"{}"),
    }
    for (name, value) in document.as_object().into_iter().flatten() {
        if !matches!(name.as_str(), "apiVersion" | "kind" | "metadata") {
            out.push(b',');
            quote(name, out);
            out.push(b':');
            encode(value, out);
        }
    }
    out.push(b'}');
}

/// About how many bytes of JSON a document takes: exact but for escapes and numbers.
pub fn size(document: &Document) -> usize {
    match document {
        Document::Null | Document::Bool(_) => 4,
        Document::Number(_) => 8,
        Document::String(text) => text.len() + 2,
        Document::Array(items) => 2 + items.iter().map(|item| size(item) + 1).sum::<usize>(),
        Document::Object(fields) => 2 + fields.iter().map(|(name, value)| name.len() + 4 + size(value)).sum::<usize>(),
    }
}

fn write_fields(fields: &Map<String, Document>, without: &[&str], out: &mut Vec<u8>) {
    let mut separator = b'{';
    for (name, value) in fields {
        if without.contains(&name.as_str()) {
            continue;
        }
        out.push(separator);
        separator = b',';
        quote(name, out);
        out.push(b':');
        encode(value, out);
    }
    if separator == b'{' {
        out.push(b'{');
    }
    out.push(b'}');
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
