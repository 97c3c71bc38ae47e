//! Reading of a resourceVersion, as kube-apiserver converts it.
use crate::meta::{Revision, go};

/// A resourceVersion; the empty text counts as absent. The error is the API's message.
pub(super) fn parse(value: &str) -> Result<Option<Revision>, String> {
    if value.is_empty() {
        return Ok(None);
    }
    // Rust takes a plus sign, which is no part of a resourceVersion.
    let shape = value.bytes().all(|b| b.is_ascii_digit());
    let why = if shape { "value out of range" } else { "invalid syntax" };
    let parsed = if shape { value.parse().ok() } else { None };
    parsed.map(Some).ok_or_else(|| {
        format!("resourceVersion: Invalid value: {0}: strconv.ParseUint: parsing {0}: {why}", go::quoted(value))
    })
}
