//! Patterns as Go reads them (RE2): the same expression in the syntax of the `regex` crate, or why Go refuses it.
use kindsmith_meta::field::beginning;
use regex::{Regex, RegexBuilder};

use self::translate::{translate, translate_with_groups};
use super::{Dialect, Pattern};

mod class;
#[cfg(test)]
mod tests;
mod translate;
mod unicode;

/// How much of a pattern a message shows.
const SHOWN: usize = 80;

/// The longest pattern, in bytes.
const LONGEST: usize = 16 << 10;

/// How many classes of Unicode a pattern has at most: each is hundreds of ranges.
const MOST_CLASSES: usize = 100;

/// The largest pattern when it is compiled, in bytes.
const LARGEST: u64 = 16 << 20;

/// A pattern in the syntax of Go.
///
/// # Errors
/// Why Go refuses it, in its words, or that it is too large.
pub fn read(pattern: &str) -> Result<Pattern, String> {
    let too_large = |found: String| {
        let text = beginning(pattern, SHOWN);
        format!("error parsing regexp: expression too large: `{text}`: it has {found}")
    };
    if pattern.len() > LONGEST {
        return Err(too_large(format!("{} bytes; supported: at most {LONGEST}", pattern.len())));
    }
    let classes = classes(pattern);
    if classes > MOST_CLASSES {
        return Err(too_large(format!("{classes} classes of Unicode; supported: at most {MOST_CLASSES}")));
    }
    let read = Pattern::translated(pattern, Dialect::Go, translate)?;
    if read.size() > LARGEST {
        return Err(too_large(format!("{} bytes when compiled; supported: at most {LARGEST}", read.size())));
    }
    Ok(read)
}

/// A pattern in the syntax of Go, compiled with its groups.
///
/// # Errors
/// As [`read`].
pub fn read_with_groups(pattern: &str) -> Result<Regex, String> {
    read(pattern)?;
    let syntax = translate_with_groups(pattern)?;
    let limit = usize::try_from(LARGEST).unwrap_or(usize::MAX);
    RegexBuilder::new(&syntax).size_limit(limit).build().map_err(|error| error.to_string())
}

/// The number of classes of Unicode in a pattern.
pub fn classes(pattern: &str) -> usize {
    pattern.matches(r"\p").count() + pattern.matches(r"\P").count()
}
