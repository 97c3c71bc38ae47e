//! One finding for a change of a type, wherever the type is used, and for one of a field, in all versions.
use std::collections::HashMap;

use super::Finding;

/// Folds findings of the same change into the first of them, and puts the worst first. It is the same change if it is in a type
/// with the same name, or in the same field of another version.
pub(crate) fn fold(findings: Vec<Finding>) -> Vec<Finding> {
    let mut folded: Vec<Finding> = Vec::new();
    let mut known: HashMap<_, usize> = HashMap::new();
    for finding in findings {
        let location = &finding.location;
        let within = finding
            .within
            .clone()
            .unwrap_or_else(|| (format!("{} {}", location.file, location.subject), location.path.clone()));
        let key = (within, finding.rule.name, finding.level, finding.what.clone());
        if let Some(first) = known.get(&key) {
            folded[*first].also.push(finding.location);
            continue;
        }
        known.insert(key, folded.len());
        folded.push(finding);
    }
    folded.sort_by_key(|finding| std::cmp::Reverse(finding.level));
    folded
}
