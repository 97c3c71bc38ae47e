//! Patterns in files of accepted findings, in which `*` stands for any text.

/// The text fits the pattern.
pub(crate) fn matches(pattern: &str, text: &str) -> bool {
    let Some((before, after)) = pattern.split_once('*') else { return pattern == text };
    text.strip_prefix(before).is_some_and(|rest| {
        let mut rests = rest.char_indices().map(|(at, _)| &rest[at..]).chain([""]);
        rests.any(|rest| matches(after, rest))
    })
}

#[cfg(test)]
mod tests;
