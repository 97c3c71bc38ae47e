//! The values of literals.
use std::borrow::Cow;

use super::{
    ast::Literal,
    token::{Token, TokenKind as K},
};

/// The value of a literal token, whose sign is given apart.
///
/// # Errors
/// The message, if it has no value.
pub(super) fn value(token: Token, sign: bool, source: &str) -> Result<Literal, &'static str> {
    let text = token.text(source);
    match token.kind {
        K::True => Ok(Literal::Bool(true)),
        K::False => Ok(Literal::Bool(false)),
        K::Int => int(text, sign).map(Literal::Int).ok_or("invalid int literal"),
        K::Uint => uint(&text[..text.len() - 1]).map(Literal::Uint).ok_or("invalid uint literal"),
        K::Float => double(text, sign).map(Literal::Double).ok_or("invalid double literal"),
        K::String => string(text).map(|text| Literal::String(text.into())),
        K::Bytes => bytes(&text[1..]).map(|bytes| Literal::Bytes(bytes.into())),
        _ => Ok(Literal::Null),
    }
}

fn int(text: &str, sign: bool) -> Option<i64> {
    let magnitude = uint(text)?;
    if sign { 0i64.checked_sub_unsigned(magnitude) } else { i64::try_from(magnitude).ok() }
}

fn uint(text: &str) -> Option<u64> {
    let (digits, radix) = text.strip_prefix("0x").map_or((text, 10), |digits| (digits, 16));
    u64::from_str_radix(digits, radix).ok()
}

fn double(text: &str, sign: bool) -> Option<f64> {
    let magnitude: f64 = text.parse().ok().filter(|value: &f64| value.is_finite())?;
    Some(if sign { -magnitude } else { magnitude })
}

/// The text between the quotes with line ends as `\n`, and if it has escapes.
fn unquote(text: &str) -> (Cow<'_, str>, bool) {
    let unprefixed = text.trim_start_matches(['r', 'R']);
    let raw = unprefixed.len() < text.len();
    let is_triple = unprefixed.len() >= 6 && (unprefixed.starts_with("'''") || unprefixed.starts_with("\"\"\""));
    let quotes = if is_triple { 3 } else { 1 };
    let body = &unprefixed[quotes..unprefixed.len() - quotes];
    let escaped = !raw && body.contains('\\');
    if body.contains('\r') {
        return (body.replace("\r\n", "\n").replace('\r', "\n").into(), escaped);
    }
    (body.into(), escaped)
}

fn string(text: &str) -> Result<Cow<'_, str>, &'static str> {
    let (body, escaped) = unquote(text);
    if !escaped {
        return Ok(body);
    }
    let mut unescaped = String::with_capacity(body.len());
    let mut rest = &*body;
    while let Some(at) = rest.find('\\') {
        unescaped.push_str(&rest[..at]);
        let (code, after) = escape(&rest[at + 1..]);
        unescaped.push(char::from_u32(code).ok_or("invalid unicode code point")?);
        rest = after;
    }
    unescaped.push_str(rest);
    Ok(unescaped.into())
}

fn bytes(text: &str) -> Result<Vec<u8>, &'static str> {
    let (body, escaped) = unquote(text);
    if !escaped {
        return Ok(body.into_owned().into_bytes());
    }
    let mut unescaped = Vec::with_capacity(body.len());
    let mut rest = &*body;
    while let Some(at) = rest.find('\\') {
        unescaped.extend_from_slice(&rest.as_bytes()[..at]);
        let (code, after) = escape(&rest[at + 1..]);
        if rest[at + 1..].starts_with(['u', 'U']) {
            return Err("unable to unescape string");
        }
        unescaped.push(u8::try_from(code).map_err(|_| "unable to unescape string")?);
        rest = after;
    }
    unescaped.extend_from_slice(rest.as_bytes());
    Ok(unescaped)
}

/// The code of an escape after its backslash, and the text after it. The lexer has accepted the escape.
fn escape(text: &str) -> (u32, &str) {
    let (digits, radix) = match text.as_bytes()[0] {
        b'x' | b'X' => (1..3, 16),
        b'u' => (1..5, 16),
        b'U' => (1..9, 16),
        b'0'..=b'3' => (0..3, 8),
        simple => return (u32::from(unescape(simple)), &text[1..]),
    };
    (u32::from_str_radix(&text[digits.clone()], radix).unwrap_or(u32::MAX), &text[digits.end..])
}

fn unescape(character: u8) -> u8 {
    match character {
        b'a' => 0x07,
        b'b' => 0x08,
        b'f' => 0x0c,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'v' => 0x0b,
        itself => itself,
    }
}
