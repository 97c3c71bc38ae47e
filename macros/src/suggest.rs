//! Suggestions for misspelt names.

/// The closest candidate, if one is close enough.
pub(crate) fn nearest<'c>(given: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let scored = candidates.into_iter().map(|candidate| (distance(given, candidate), candidate));
    let (score, candidate) = scored.min_by_key(|&(score, _)| score)?;
    (score <= given.chars().count().max(candidate.chars().count()).div_ceil(3)).then_some(candidate)
}

/// `did you mean …?` with a leading `; `, or an empty text.
pub(crate) fn did_you_mean<'c>(given: &str, candidates: impl IntoIterator<Item = &'c str>) -> String {
    nearest(given, candidates).map(|near| format!("; did you mean `{near}`?")).unwrap_or_default()
}

/// The number of insertions, deletions, replacements and swaps of neighbours between two texts.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows: Vec<Vec<usize>> = vec![(0..=b.len()).collect()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = replaced.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_candidate_is_suggested() {
        assert_eq!(nearest("minmum", ["minimum", "maximum"]), Some("minimum"));
        assert_eq!(nearest("gruop", ["group", "version"]), Some("group"));
        assert_eq!(nearest("colour", ["group", "version"]), None);
    }
}
