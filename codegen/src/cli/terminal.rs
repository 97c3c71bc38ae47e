//! Standard output and standard error. Who reads them may go away, as `head` does: that ends the output, and not the command.

use std::{
    collections::BTreeMap,
    fmt,
    io::{self, Write as _},
};

/// Prints to standard output.
pub(crate) fn print(text: fmt::Arguments<'_>) {
    let _ = io::stdout().lock().write_fmt(text);
}

/// Prints a line to standard error.
pub(crate) fn report(line: fmt::Arguments<'_>) {
    let _ = io::stderr().lock().write_fmt(format_args!("{line}\n"));
}

/// How many warnings of a kind are printed, unless all are asked for.
const SHOWN: usize = 3;

/// Prints warnings: the first few of each kind, and how many more there are. Warnings of a kind differ only in places,
/// names and numbers.
pub(crate) fn warn<W: fmt::Display>(warnings: &[W], message: impl Fn(&W) -> &str, all: bool) {
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    let mut left = Vec::new();
    for warning in warnings {
        let count = kinds.entry(kind(message(warning))).or_default();
        *count += 1;
        if all || *count <= SHOWN {
            report(format_args!("warning: {warning}"));
        } else if *count == SHOWN + 1 {
            left.push(warning);
        }
    }
    for warning in left {
        let text = message(warning);
        let more = kinds.get(&kind(text)).map_or(0, |count| count - SHOWN);
        let text: String = text.lines().next().unwrap_or_default().chars().take(100).collect();
        report(format_args!("warning: and {more} more like this (--all prints them): {text}"));
    }
}

/// A message without the parts that differ within a kind: numbers, and text in quotes.
fn kind(message: &str) -> String {
    let quoted = message.split('"').step_by(2).collect::<Vec<_>>().join("\"");
    quoted.chars().filter(|c| !c.is_ascii_digit()).collect()
}

#[cfg(test)]
mod tests;
