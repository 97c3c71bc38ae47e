//! Removes duplicate owner references with a warning, as kube-apiserver does.
use std::collections::HashSet;

use crate::schema::Document;

/// Removes duplicate owner references. Returns the warning for the client.
pub(super) fn dedup(document: &mut Document, after_admission: bool) -> Option<String> {
    let references = document.get_mut("metadata")?.get_mut("ownerReferences")?.as_array_mut()?;
    if references.len() < 2 {
        return None;
    }
    let mut seen = HashSet::with_capacity(references.len());
    let mut repeated: Vec<String> = Vec::new();
    references.retain(|reference| {
        let first = seen.insert(reference.to_string());
        if !first {
            repeated.push(reference["uid"].as_str().unwrap_or_default().to_owned());
        }
        first
    });
    if repeated.is_empty() {
        return None;
    }
    let when = if after_admission { " after mutating admission happens" } else { "" };
    Some(format!(
        ".metadata.ownerReferences contains duplicate entries{when}; API server dedups owner references in 1.20+, and may \
         reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: {}",
        repeated.join(", ")
    ))
}
