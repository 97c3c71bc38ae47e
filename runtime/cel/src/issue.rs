//! Errors of an expression, with their positions, printed as cel-go prints them.
use std::fmt;

use super::Source;

/// One error of an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Issue {
    /// Its position in code points from the beginning of the source; `None` for errors of the source as a whole.
    pub offset: Option<u32>,
    /// What is wrong.
    pub message: String,
}

/// The errors of an expression in the order of their positions: at least one, at most [`Issues::MOST`].
#[derive(Clone, Debug)]
pub struct Issues {
    pub(crate) source: Source,
    pub(crate) issues: Vec<Issue>,
    /// How many more there were.
    pub(crate) more: usize,
}

impl Issue {
    /// An error at an offset.
    pub fn new(offset: u32, message: impl Into<String>) -> Self {
        Self { offset: Some(offset), message: message.into() }
    }

    /// An error of the source as a whole.
    pub(crate) fn without_offset(message: impl Into<String>) -> Self {
        Self { offset: None, message: message.into() }
    }

    /// Line and column as they are printed.
    pub(crate) fn position(&self, source: &Source) -> (i64, i64) {
        self.offset.map_or((-1, 0), |offset| {
            let location = source.location(offset);
            (i64::from(location.line), i64::from(location.column.wrapping_add(1)))
        })
    }
}

impl Issues {
    /// How many are kept; of the others there is only the number.
    pub const MOST: usize = 100;
    /// Longer lines are not printed.
    const LONGEST_LINE: usize = 16_384;

    /// The errors that were found, in the order in which they were found.
    pub(crate) fn new(source: Source, mut found: Vec<Issue>) -> Self {
        let more = found.len().saturating_sub(Self::MOST);
        found.truncate(Self::MOST);
        found.sort_by_cached_key(|issue| issue.position(&source));
        Self { source, issues: found, more }
    }

    /// The errors.
    pub fn iter(&self) -> std::slice::Iter<'_, Issue> {
        self.issues.iter()
    }

    fn print(&self, issue: &Issue, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (line, column) = issue.position(&self.source);
        write!(f, "ERROR: <input>:{line}:{column}: {}", issue.message)?;
        let Some(text) = u32::try_from(line).ok().and_then(|line| self.source.line(line)) else { return Ok(()) };
        if self.source.text().is_empty() || text.len() > Self::LONGEST_LINE {
            return Ok(());
        }
        write!(f, "\n | {}\n | ", text.replace('\t', " "))?;
        let mut chars = text.chars();
        for c in chars.by_ref().take(usize::try_from(column - 1).unwrap_or(0)) {
            f.write_str(if c.is_ascii() { "." } else { "\u{ff0e}" })?;
        }
        f.write_str(if chars.next().is_none_or(|c| c.is_ascii()) { "^" } else { "\u{ff3e}" })
    }
}

impl<'a> IntoIterator for &'a Issues {
    type Item = &'a Issue;
    type IntoIter = std::slice::Iter<'a, Issue>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl fmt::Display for Issues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, issue) in self.issues.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            self.print(issue, f)?;
        }
        if self.more > 0 {
            write!(f, "\n{} more errors were truncated", self.more)?;
        }
        Ok(())
    }
}

impl std::error::Error for Issues {}

#[cfg(test)]
mod tests {
    use super::{Issue, Issues};
    use crate::Source;

    fn printed(text: &str, issues: &[(Option<u32>, &str)]) -> String {
        let found = issues.iter().map(|(offset, message)| Issue { offset: *offset, message: (*message).to_owned() });
        Issues::new(Source::new(text), found.collect()).to_string()
    }

    #[test]
    fn errors_are_sorted_by_position_and_shown_in_their_line() {
        assert_eq!(
            printed("a\n\tb c", &[(Some(5), "last"), (Some(3), "first"), (None, "whole"), (Some(3), "second")]),
            "ERROR: <input>:-1:0: whole\nERROR: <input>:2:2: first\n |  b c\n | .^\nERROR: <input>:2:2: second\n |  b c\n | \
             .^\nERROR: <input>:2:4: last\n |  b c\n | ...^"
        );
    }

    #[test]
    fn wide_characters_get_wide_marks() {
        assert_eq!(
            printed("é\u{1f600}a", &[(Some(1), "m")]),
            "ERROR: <input>:1:2: m\n | é\u{1f600}a\n | \u{ff0e}\u{ff3e}"
        );
        assert_eq!(printed("éa", &[(Some(1), "m")]), "ERROR: <input>:1:2: m\n | éa\n | \u{ff0e}^");
    }

    #[test]
    fn positions_may_be_outside_the_text() {
        assert_eq!(printed("", &[(Some(0), "m")]), "ERROR: <input>:1:1: m");
        assert_eq!(printed("ab\r\n", &[(Some(4), "m")]), "ERROR: <input>:2:1: m\n | \n | ^");
        assert_eq!(
            printed("ab", &[(Some(u32::MAX), "m"), (Some(0), "n")]),
            "ERROR: <input>:1:0: m\n | ab\n | ^\nERROR: <input>:1:1: n\n | ab\n | ^"
        );
    }

    #[test]
    fn long_lines_and_many_errors_are_left_out() {
        let long = "a".repeat(16_385);
        assert_eq!(printed(&long, &[(Some(0), "m")]), "ERROR: <input>:1:1: m");
        let many = printed("a", &[(None, "m"); 103]);
        assert_eq!(many.matches("-1:0: m\n").count(), 100);
        assert!(many.ends_with("\n3 more errors were truncated"));
    }
}
