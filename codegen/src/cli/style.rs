//! Text for people: readable numbers, and colours if the terminal shows them.

use std::{env, fmt::Write, io::IsTerminal};

/// A number in groups of three digits.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number of bytes, in a suitable unit.
pub(super) fn bytes(number: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if number < 1024 {
        return format!("{number} B");
    }
    let (mut tenths, mut unit) = (number.saturating_mul(10) / 1024, 0);
    while tenths >= 10_240 && unit + 1 < UNITS.len() {
        tenths /= 1024;
        unit += 1;
    }
    let mut text = grouped(tenths / 10);
    let _ = write!(text, ".{} {}", tenths % 10, UNITS[unit]);
    text
}

/// Green, if standard output shows colours.
pub(crate) fn good(text: &str) -> String {
    coloured("32", text, std::io::stdout().is_terminal())
}

/// Yellow, if standard output shows colours.
pub(crate) fn remark(text: &str) -> String {
    coloured("33", text, std::io::stdout().is_terminal())
}

/// Bold, if standard output shows colours.
pub(crate) fn strong(text: &str) -> String {
    coloured("1", text, std::io::stdout().is_terminal())
}

/// Bold red, if standard error shows colours.
pub(super) fn error(text: &str) -> String {
    coloured("1;31", text, std::io::stderr().is_terminal())
}

/// Red, if standard output shows colours.
pub(super) fn bad(text: &str) -> String {
    coloured("31", text, std::io::stdout().is_terminal())
}

/// The colour is left out where no terminal shows it, or where <https://no-color.org> says so: any value that is not empty.
fn coloured(code: &str, text: &str, is_terminal: bool) -> String {
    let unwanted = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    if unwanted || !is_terminal { text.to_owned() } else { format!("\x1b[{code}m{text}\x1b[0m") }
}

#[cfg(test)]
mod tests;
