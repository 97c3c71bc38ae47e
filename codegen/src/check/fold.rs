//! One finding for a change of a type, wherever the type is used.
use std::collections::HashMap;

use super::Finding;

/// Folds findings of the same change of the same type into the first of them, and puts the worst first.
pub(crate) fn fold(findings: Vec<Finding>) -> Vec<Finding> {
    let mut folded: Vec<Finding> = Vec::new();
    let mut known: HashMap<_, usize> = HashMap::new();
    for finding in findings {
        let key = finding.within.clone().map(|within| (within, finding.rule.name, finding.level, finding.what.clone()));
        if let Some(first) = key.as_ref().and_then(|key| known.get(key)) {
            folded[*first].also.push(finding.place);
            continue;
        }
        if let Some(key) = key {
            known.insert(key, folded.len());
        }
        folded.push(finding);
    }
    folded.sort_by_key(|finding| std::cmp::Reverse(finding.level));
    folded
}
