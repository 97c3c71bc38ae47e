//! Quoted scalars whose further lines are not indented. go-yaml reads them and our parser does not, so that they are indented
//! before the text is read again. Spaces before these lines mean nothing, and the lines stay where they are.
use std::{iter, ops::Range};

/// How often a long document is read again. Each such scalar is found by reading all that is before it.
const TIMES: usize = 8;
/// The bytes of text that are read again of a short document, which costs as little as reading a long one once.
const BYTES: usize = 1 << 20;

/// What may still be read again of a document.
pub(super) struct Again {
    bytes: usize,
    /// The place from which scalars are not indented yet.
    from: usize,
}

impl Again {
    pub(super) fn new(text: &str) -> Self {
        Self { bytes: (TIMES * text.len()).max(BYTES), from: 0 }
    }

    /// Indents the scalar on a line of which the parser stopped, which begins after `stop.start`. Returns `None`
    /// without such a scalar, if it was indented before, or if too much was read again.
    pub(super) fn indent(&mut self, text: &str, stop: &Range<usize>) -> Option<String> {
        let start = opening(text, stop.start).filter(|start| *start >= self.from)?;
        let end = closing(text, start).filter(|end| (start..*end).contains(&stop.end))?;
        let column = start - text[..start].rfind('\n').map_or(0, |line| line + 1);
        let added = text[start..end].matches('\n').count().checked_mul(column)?;
        self.bytes = self.bytes.checked_sub(text.len().checked_add(added)?)?;
        self.from = end + added + 1;
        let line: String = iter::once('\n').chain(iter::repeat_n(' ', column)).collect();
        Some([&text[..start], &text[start..end].replace('\n', &line), &text[end..]].concat())
    }
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
