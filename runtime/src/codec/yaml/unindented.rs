//! Quoted scalars whose further lines are not indented. go-yaml reads them and our parser does not, so that they are indented
//! before the text is read again. Spaces before these lines mean nothing, and the lines stay where they are.
use std::{iter, ops::Range};

/// The bytes of text that are read again, for one document: each such scalar is found by reading all that is before it.
pub(super) const MOST_READ_AGAIN: usize = 16 << 20;

/// Indents the scalar on a line of which the parser stopped, which begins after `stop.start`; `None` if there is none, or if
/// more than `budget` bytes were to be read again.
pub(super) fn indent(text: &str, stop: &Range<usize>, budget: &mut usize) -> Option<String> {
    let start = opening(text, stop.start)?;
    let end = closing(text, start)?;
    let column = start - text[..start].rfind('\n').map_or(0, |line| line + 1);
    let added = text[start..end].matches('\n').count().checked_mul(column)?;
    *budget = budget.checked_sub(text.len().checked_add(added)?)?;
    let is_inside = (start..end).contains(&stop.end);
    let indented =
        || text[start..end].replace('\n', &iter::once('\n').chain(iter::repeat_n(' ', column)).collect::<String>());
    is_inside.then(|| [&text[..start], &indented(), &text[end..]].concat())
}

/// The first quote after a place between tokens.
fn opening(text: &str, from: usize) -> Option<usize> {
    let (mut comment, mut space) = (false, true);
    for (offset, byte) in text.bytes().enumerate().skip(from) {
        match byte {
            b'\n' => comment = false,
            b'#' if space => comment = true,
            b'"' | b'\'' if !comment => return Some(offset),
            _ => {}
        }
        space = byte.is_ascii_whitespace();
    }
    None
}

/// The quote that ends the scalar that a quote begins.
fn closing(text: &str, start: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let (quote, mut at) = (*bytes.get(start)?, start + 1);
    loop {
        match (*bytes.get(at)?, bytes.get(at + 1)) {
            (b'\'', Some(b'\'')) if quote == b'\'' => at += 2,
            (b'\\', _) if quote == b'"' => at += 2,
            (byte, _) if byte == quote => return Some(at),
            _ => at += 1,
        }
    }
}
