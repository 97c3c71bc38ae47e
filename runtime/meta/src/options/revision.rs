//! Parses a resourceVersion as kube-apiserver does.
use super::query::parsed;
use crate::{Revision, go};

/// Parses a resourceVersion; empty text means absent. The error is the API's message.
pub(super) fn parse(value: &str) -> Result<Option<Revision>, String> {
    if value.is_empty() {
        return Ok(None);
    }
    // Rust accepts a plus sign, which a resourceVersion must not have.
    let number = parsed("strconv.ParseUint", value, value).map(Some);
    number.map_err(|why| format!("resourceVersion: Invalid value: {}: {why}", go::quoted(value)))
}
