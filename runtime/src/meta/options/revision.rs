//! Parses a resourceVersion as kube-apiserver does.
use crate::meta::{Revision, go};

/// Parses a resourceVersion; empty text means absent. The error is the API's message.
pub(super) fn parse(value: &str) -> Result<Option<Revision>, String> {
    if value.is_empty() {
        return Ok(None);
    }
    // Rust accepts a plus sign, which a resourceVersion must not have.
    let shape = value.bytes().all(|b| b.is_ascii_digit());
    let why = if shape { "value out of range" } else { "invalid syntax" };
    let parsed = if shape { value.parse().ok() } else { None };
    parsed.map(Some).ok_or_else(|| {
        format!("resourceVersion: Invalid value: {0}: strconv.ParseUint: parsing {0}: {why}", go::quoted(value))
    })
}
