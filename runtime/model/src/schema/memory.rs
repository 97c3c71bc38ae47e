//! What documents take in memory, approximately: a short text may describe a document that takes far more.
use super::Document;

/// The overhead of an object: a node of its tree has room for eleven fields.
pub(crate) const OBJECT: usize = 512;

/// The overhead of a field: its name, and a share of nodes that are never full.
pub(crate) const FIELD: usize = 96;

/// The minimum size of a nonempty text.
pub(crate) const TEXT: usize = 32;

/// The overhead of a nonempty list, which has room for four values at once.
pub(crate) const LIST: usize = 4 * size_of::<Document>();

/// The number of values in a document, with itself.
pub fn values(document: &Document) -> usize {
    1 + match document {
        Document::Array(items) => items.iter().map(values).sum(),
        Document::Object(fields) => fields.values().map(values).sum(),
        _ => 0,
    }
}

/// The memory of a document in bytes.
pub(crate) fn taken(document: &Document) -> usize {
    let below = match document {
        Document::String(text) => text.len(),
        Document::Array(items) if items.is_empty() => 0,
        Document::Array(items) => LIST + items.iter().map(taken).sum::<usize>(),
        Document::Object(fields) if fields.is_empty() => 0,
        Document::Object(fields) => OBJECT + fields.values().map(|field| FIELD + taken(field)).sum::<usize>(),
        _ => 0,
    };
    size_of::<Document>() + below
}
