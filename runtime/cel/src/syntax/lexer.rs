//! Text to tokens: the longest match wins. What is no token is reported as ANTLR's lexer reports it: from the beginning of the token to
//! the character with which no rule can go on.
use super::token::{Token, TokenKind};
use crate::source::narrow;

/// Takes tokens off a text, one after the other.
#[derive(Clone, Debug)]
pub(super) struct Lexer<'a> {
    text: &'a str,
    at: usize,
    offset: u32,
}

/// A match: what it is and where it ends; or without a match, the byte at which no rule could go on.
type Match = Result<(TokenKind, usize), usize>;

impl<'a> Lexer<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 0, offset: 0 }
    }

    /// The next token, of the kind `Eof` at the end; or the text that is no token.
    pub(super) fn next(&mut self) -> Result<Token, Token> {
        let rest = &self.text.as_bytes()[self.at..];
        if rest.is_empty() {
            return Ok(self.take(TokenKind::Eof, 0));
        }
        scan(rest).map(|(kind, length)| self.take(kind, length)).map_err(|failed| {
            let next = self.text[self.at + failed..].chars().next().map_or(0, char::len_utf8);
            self.take(TokenKind::Eof, failed + next)
        })
    }

    fn take(&mut self, kind: TokenKind, length: usize) -> Token {
        let (start, offset) = (self.at, self.offset);
        self.at += length;
        let taken = &self.text[start..self.at];
        let count = if taken.is_ascii() { length } else { taken.chars().count() };
        self.offset = self.offset.saturating_add(narrow(count));
        Token { kind, start: narrow(start), end: narrow(self.at), offset }
    }
}

fn scan(text: &[u8]) -> Match {
    use TokenKind as K;
    let next = text.get(1).copied();
    let one = |kind| Ok((kind, 1));
    let equals = |with, without: Match| if next == Some(b'=') { Ok((with, 2)) } else { without };
    match text[0] {
        b' ' | b'\t' | b'\r' | b'\n' | b'\x0c' => Ok((K::Whitespace, length(text, 0, is_space))),
        b'/' if next == Some(b'/') => Ok((K::Comment, length(text, 0, |c| c != b'\n'))),
        b'0'..=b'9' => Ok(number(text)),
        b'.' if next.is_some_and(|c| c.is_ascii_digit()) => {
            let end = length(text, 1, |c| c.is_ascii_digit());
            Ok((K::Float, exponent(text, end).unwrap_or(end)))
        }
        b'A'..=b'Z' | b'a'..=b'z' | b'_' => Ok(word(text)),
        b'"' | b'\'' => quoted(text, 0, false).map(|end| (K::String, end)),
        b'`' => escaped_identifier(text),
        b'=' => equals(K::Equals, Err(1)),
        b'!' => equals(K::NotEquals, one(K::Not)),
        b'<' => equals(K::LessEquals, one(K::Less)),
        b'>' => equals(K::GreaterEquals, one(K::Greater)),
        b'&' => {
            if next == Some(b'&') {
                Ok((K::And, 2))
            } else {
                Err(1)
            }
        }
        b'|' => {
            if next == Some(b'|') {
                Ok((K::Or, 2))
            } else {
                Err(1)
            }
        }
        b'[' => one(K::LeftBracket),
        b']' => one(K::RightBracket),
        b'{' => one(K::LeftBrace),
        b'}' => one(K::RightBrace),
        b'(' => one(K::LeftParen),
        b')' => one(K::RightParen),
        b'.' => one(K::Dot),
        b',' => one(K::Comma),
        b'-' => one(K::Minus),
        b'?' => one(K::Question),
        b':' => one(K::Colon),
        b'+' => one(K::Plus),
        b'*' => one(K::Star),
        b'/' => one(K::Slash),
        b'%' => one(K::Percent),
        _ => Err(0),
    }
}

fn is_space(c: u8) -> bool {
    matches!(c, b' ' | b'\t' | b'\r' | b'\n' | b'\x0c')
}

/// Where the bytes of a sort that begin at `from` end.
fn length(text: &[u8], from: usize, of: impl Fn(u8) -> bool) -> usize {
    text[from..].iter().position(|c| !of(*c)).map_or(text.len(), |count| from + count)
}

fn number(text: &[u8]) -> (TokenKind, usize) {
    let is_at = |at: usize, of: fn(&u8) -> bool| text.get(at).is_some_and(of);
    let digits = if text.starts_with(b"0x") && is_at(2, u8::is_ascii_hexdigit) {
        length(text, 2, |c| c.is_ascii_hexdigit())
    } else {
        let digits = length(text, 0, |c| c.is_ascii_digit());
        let fraction = text.get(digits) == Some(&b'.') && is_at(digits + 1, u8::is_ascii_digit);
        let end = if fraction { length(text, digits + 1, |c| c.is_ascii_digit()) } else { digits };
        if let Some(end) = exponent(text, end) {
            return (TokenKind::Float, end);
        }
        if fraction {
            return (TokenKind::Float, end);
        }
        digits
    };
    if is_at(digits, |c| matches!(c, b'u' | b'U')) { (TokenKind::Uint, digits + 1) } else { (TokenKind::Int, digits) }
}

/// Where an exponent ends that begins at `at`.
fn exponent(text: &[u8], at: usize) -> Option<usize> {
    let sign = text.get(at).filter(|c| matches!(c, b'e' | b'E')).map(|_| at + 1)?;
    let digits = sign + usize::from(text.get(sign).is_some_and(|c| matches!(c, b'+' | b'-')));
    text.get(digits).filter(|c| c.is_ascii_digit())?;
    Some(length(text, digits, |c| c.is_ascii_digit()))
}

/// An identifier, a keyword, or a literal with a prefix.
fn word(text: &[u8]) -> (TokenKind, usize) {
    let end = length(text, 0, |c| c.is_ascii_alphanumeric() || c == b'_');
    let (bytes, raw) = match &text[..end] {
        b"in" => return (TokenKind::In, end),
        b"true" => return (TokenKind::True, end),
        b"false" => return (TokenKind::False, end),
        b"null" => return (TokenKind::Null, end),
        b"r" | b"R" => (false, true),
        b"b" | b"B" => (true, false),
        b"br" | b"bR" | b"Br" | b"BR" => (true, true),
        _ => return (TokenKind::Ident, end),
    };
    if !text.get(end).is_some_and(|c| matches!(c, b'"' | b'\'')) {
        return (TokenKind::Ident, end);
    }
    let kind = if bytes { TokenKind::Bytes } else { TokenKind::String };
    quoted(text, end, raw).map_or((TokenKind::Ident, end), |end| (kind, end))
}

/// The end of a string whose quote is at `from`, or the position of the error.
fn quoted(text: &[u8], from: usize, raw: bool) -> Result<usize, usize> {
    let quote = text[from];
    if text[from..].starts_with(&[quote; 3]) {
        // Without an end, the first two quotes are an empty string.
        return Ok(body(text, from + 3, &[quote; 3], raw).unwrap_or(from + 2));
    }
    body(text, from + 1, &[quote], raw)
}

fn body(text: &[u8], mut at: usize, quotes: &[u8], raw: bool) -> Result<usize, usize> {
    while let Some(c) = text.get(at) {
        match c {
            _ if text[at..].starts_with(quotes) => return Ok(at + quotes.len()),
            b'\\' if !raw => at = escape(text, at + 1)?,
            b'\n' | b'\r' if quotes.len() == 1 => return Err(at),
            _ => at += 1,
        }
    }
    Err(at)
}

/// The end of an escape whose backslash is before `at`, or the position of the error.
fn escape(text: &[u8], at: usize) -> Result<usize, usize> {
    let (digits, is_digit): (usize, fn(&u8) -> bool) = match text.get(at) {
        Some(b'a' | b'b' | b'f' | b'n' | b'r' | b't' | b'v' | b'"' | b'\'' | b'\\' | b'?' | b'`') => return Ok(at + 1),
        Some(b'x' | b'X') => (2, u8::is_ascii_hexdigit),
        Some(b'u') => (4, u8::is_ascii_hexdigit),
        Some(b'U') => (8, u8::is_ascii_hexdigit),
        Some(b'0'..=b'3') => (2, |c| matches!(c, b'0'..=b'7')),
        _ => return Err(at),
    };
    match (at + 1..=at + digits).find(|at| !text.get(*at).is_some_and(is_digit)) {
        Some(failed) => Err(failed),
        None => Ok(at + 1 + digits),
    }
}

fn escaped_identifier(text: &[u8]) -> Match {
    let is_part = |c: u8| c.is_ascii_alphanumeric() || matches!(c, b'_' | b'.' | b'-' | b'/' | b' ');
    let end = length(text, 1, is_part);
    if end > 1 && text.get(end) == Some(&b'`') { Ok((TokenKind::EscapedIdent, end + 1)) } else { Err(end) }
}
