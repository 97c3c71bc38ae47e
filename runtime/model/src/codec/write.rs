//! The stored form of documents.
use crate::{
    meta::json::{encode, write_member},
    schema::Document,
};

/// The member of metadata that a canonical body excludes.
const MANAGED_FIELDS: &str = "managedFields";

/// The positions of a canonical body's parts, from its beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Canonical {
    /// The end of the value of `metadata`.
    pub metadata_end: usize,
    /// The position for managed fields: before the next member of metadata, or before the closing brace.
    pub managed_at: usize,
}

/// Appends the canonical body of an object: first `metadata` without `resourceVersion` and `managedFields`, then the
/// other keys in order, without `apiVersion` and `kind`.
pub fn canonical(document: &Document, out: &mut Vec<u8>) -> Canonical {
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
pub fn managed_fields(document: &Document, out: &mut Vec<u8>) {
    if let Some(entries) = document.get("metadata").and_then(|metadata| metadata.get(MANAGED_FIELDS)) {
        encode(entries, out);
    }
}
