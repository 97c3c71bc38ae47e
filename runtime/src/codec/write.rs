//! Documents to JSON text.
use std::io::Write;

use serde_json::Number;

use super::plain;
use crate::schema::{Document, number::text_of_double};

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

/// The member of metadata that a canonical body excludes.
const MANAGED_FIELDS: &str = "managedFields";

/// The positions of a canonical body's parts, from its beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Canonical {
    /// The end of the value of `metadata`.
    pub metadata_end: usize,
    /// The position for managed fields: before the next member of metadata, or before the closing brace.
    pub managed_at: usize,
}

/// Appends the canonical body of an object: first `metadata` without `resourceVersion` and `managedFields`, then the
/// other keys in order, without `apiVersion` and `kind`.
pub(crate) fn canonical(document: &Document, out: &mut Vec<u8>) -> Canonical {
    let start = out.len();
    out.extend_from_slice(b"{\"metadata\":{");
    let mut managed_at = None;
    let mut separator: &[u8] = b"";
    for (name, value) in document.get("metadata").and_then(Document::as_object).into_iter().flatten() {
        if name == "resourceVersion" || name == MANAGED_FIELDS {
            continue;
        }
        out.extend_from_slice(separator);
        if name.as_str() > MANAGED_FIELDS {
            managed_at.get_or_insert(out.len());
        }
        write_member(name, value, out);
        separator = b",";
    }
    let managed_at = managed_at.unwrap_or(out.len()) - start;
    out.push(b'}');
    let metadata_end = out.len() - start;
    for (name, value) in document.as_object().into_iter().flatten() {
        if !matches!(name.as_str(), "apiVersion" | "kind" | "metadata") {
            out.push(b',');
            write_member(name, value, out);
        }
    }
    out.push(b'}');
    Canonical { metadata_end, managed_at }
}

/// Appends the managed fields of an object, which its canonical body excludes, if there are any.
pub(crate) fn managed_fields(document: &Document, out: &mut Vec<u8>) {
    if let Some(entries) = document.get("metadata").and_then(|metadata| metadata.get(MANAGED_FIELDS)) {
        encode(entries, out);
    }
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

fn write_member(name: &str, value: &Document, out: &mut Vec<u8>) {
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
pub(super) fn quote(text: &str, out: &mut Vec<u8>) {
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
