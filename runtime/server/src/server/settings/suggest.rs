//! Suggestions for misspelt settings.

/// `did you mean …?` with a leading `; `, if a candidate is close enough.
pub(super) fn did_you_mean<'c>(given: &str, candidates: impl IntoIterator<Item = &'c str>) -> String {
    let scored = candidates.into_iter().map(|candidate| (strsim::damerau_levenshtein(given, candidate), candidate));
    let nearest = scored.min_by_key(|(score, _)| *score);
    let is_near = |score: usize, candidate: &str| score <= given.len().max(candidate.len()).div_ceil(3);
    nearest
        .filter(|(score, candidate)| is_near(*score, candidate))
        .map_or(String::new(), |(_, candidate)| format!("; did you mean {candidate}?"))
}
