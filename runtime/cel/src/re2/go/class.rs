//! Classes of characters, and escapes that stand for a character or a class, as Go reads them. Each function takes a text from the
//! place that it reads, and returns the text after that.
use std::fmt::Write;

use super::unicode;

/// The error, and the part of the pattern that Go shows.
pub(super) type Refusal<'p> = (&'static str, &'p str);

/// A class without a character.
pub(super) const NOTHING: &str = r"[^\x00-\x{10ffff}]";

/// The names of classes such as `[:alpha:]`.
const NAMES: [&str; 14] = [
    "alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space", "upper", "word",
    "xdigit",
];

/// A class in brackets.
pub(super) fn class(whole: &str) -> Result<(String, &str), Refusal<'_>> {
    let unclosed = ("missing closing ]", whole);
    let inside = &whole[1..];
    let mut rest = inside.strip_prefix('^').unwrap_or(inside);
    let mut out = String::from(if rest.len() < inside.len() { "[^" } else { "[" });
    let mut is_first = true;
    while is_first || !rest.starts_with(']') {
        is_first = false;
        if let Some((set, after)) = named(rest)? {
            (rest, out) = (after, out + &set);
            continue;
        }
        if rest.starts_with('\\')
            && let Some((set, after)) = set(rest)?
        {
            (rest, out) = (after, out + &set);
            continue;
        }
        let here = rest;
        let (low, mut high);
        (low, rest) = member(rest, unclosed)?;
        high = low;
        if let Some(after) = rest.strip_prefix('-')
            && !after.is_empty()
            && !after.starts_with(']')
        {
            (high, rest) = member(after, unclosed)?;
            if high < low {
                return Err(("invalid character class range", &here[..here.len() - rest.len()]));
            }
        }
        range(low, high, &mut out);
    }
    if matches!(out.as_str(), "[" | "[^") {
        out.push_str(NOTHING);
    }
    out.push(']');
    Ok((out, &rest[1..]))
}

/// A class by its name, such as `[:alpha:]`.
fn named(text: &str) -> Result<Option<(String, &str)>, Refusal<'_>> {
    let Some((name, rest)) = text.strip_prefix("[:").and_then(|text| text.split_once(":]")) else { return Ok(None) };
    let plain = name.strip_prefix('^').unwrap_or(name);
    if !NAMES.contains(&plain) {
        return Err(("invalid character class range", &text[..text.len() - rest.len()]));
    }
    let set = if plain == name { format!("[:{name}:]") } else { format!("[^[:{plain}:]]") };
    Ok(Some((set, rest)))
}

/// A class that an escape such as `\d` stands for; `None` for any other escape.
pub(super) fn set(here: &str) -> Result<Option<(String, &str)>, Refusal<'_>> {
    let set = match here[1..].chars().next() {
        Some('d') => "[0-9]",
        Some('D') => "[^0-9]",
        Some('s') => r"[\t\n\f\r\x20]",
        Some('S') => r"[^\t\n\f\r\x20]",
        Some('w') => "[0-9A-Za-z_]",
        Some('W') => "[^0-9A-Za-z_]",
        Some('p' | 'P') => return of_unicode(here).map(Some),
        _ => return Ok(None),
    };
    Ok(Some((set.to_owned(), &here[2..])))
}

/// `\p{Greek}`, `\pL`, `\P{^Greek}`.
fn of_unicode(here: &str) -> Result<(String, &str), Refusal<'_>> {
    let invalid = "invalid character class range";
    let after = &here[2..];
    let length = if after.starts_with('{') {
        after.find('}').ok_or((invalid, here))? + 1
    } else {
        after.chars().next().map_or(0, char::len_utf8)
    };
    let (name, rest) = after.split_at(length);
    let name = name.strip_prefix('{').map_or(name, |name| &name[..name.len() - 1]);
    let plain = name.strip_prefix('^').unwrap_or(name);
    let is_negated = here[1..].starts_with('P') != (plain.len() < name.len());
    let known = unicode::class(plain).ok_or((invalid, &here[..here.len() - rest.len()]))?;
    Ok((
        match (known, is_negated) {
            // No text has half of a surrogate pair.
            ("Cs", false) => NOTHING.to_owned(),
            ("Cs", true) => r"[\x00-\x{10ffff}]".to_owned(),
            (_, false) => format!(r"\p{{{known}}}"),
            (_, true) => format!(r"\P{{{known}}}"),
        },
        rest,
    ))
}

/// A character of a class by its code, which may be that of half a surrogate pair.
fn member<'p>(text: &'p str, unclosed: Refusal<'p>) -> Result<(u32, &'p str), Refusal<'p>> {
    match text.chars().next().ok_or(unclosed)? {
        '\\' => character(text),
        other => Ok((other.into(), &text[other.len_utf8()..])),
    }
}

/// An escape that stands for one character.
pub(super) fn character(here: &str) -> Result<(u32, &str), Refusal<'_>> {
    let mut chars = here[1..].chars();
    let Some(c) = chars.next() else { return Err(("trailing backslash at end of expression", "")) };
    let after = chars.as_str();
    let invalid = |after: &str| Err(("invalid escape sequence", &here[..here.len() - after.len()]));
    let code = match c {
        'a' => 0x07,
        'f' => 0x0c,
        'n' => 0x0a,
        'r' => 0x0d,
        't' => 0x09,
        'v' => 0x0b,
        'x' => return hexadecimal(after).or_else(invalid),
        '0'..='7' => {
            let digits = after.bytes().take(2).take_while(|byte| (b'0'..b'8').contains(byte)).count();
            if c != '0' && digits == 0 {
                return invalid(after);
            }
            let code = u32::from_str_radix(&here[1..2 + digits], 8).unwrap_or_default();
            return Ok((code, &after[digits..]));
        }
        c if c.is_ascii() && !c.is_ascii_alphanumeric() => c.into(),
        _ => return invalid(after),
    };
    Ok((code, after))
}

/// The digits after `\x`, two or any number in braces. The error is the text after what Go reads.
fn hexadecimal(text: &str) -> Result<(u32, &str), &str> {
    let mut chars = text.chars();
    let mut code = 0;
    if !text.starts_with('{') {
        let digits = [chars.next(), chars.next()].map(|digit| digit.and_then(|digit| digit.to_digit(16)));
        let [Some(high), Some(low)] = digits else { return Err(chars.as_str()) };
        return Ok((high * 16 + low, chars.as_str()));
    }
    chars.next();
    let mut has_digits = false;
    while let Some(c) = chars.next() {
        match c.to_digit(16) {
            Some(digit) if code * 16 + digit <= 0x10_ffff => code = code * 16 + digit,
            None if c == '}' && has_digits => return Ok((code, chars.as_str())),
            _ => return Err(chars.as_str()),
        }
        has_digits = true;
    }
    Err("")
}

/// Writes the characters from one code to another, without surrogates.
fn range(low: u32, high: u32, out: &mut String) {
    let low = char::from_u32(low).unwrap_or('\u{e000}');
    let high = char::from_u32(high).unwrap_or('\u{d7ff}');
    if low <= high {
        literal(low, out);
        if low < high {
            out.push('-');
            literal(high, out);
        }
    }
}

/// A character that stands for itself.
pub(super) fn literal(c: char, out: &mut String) {
    if c.is_alphanumeric() || c == '_' || !c.is_ascii() {
        out.push(c);
    } else {
        write!(out, r"\x{{{:x}}}", u32::from(c)).expect("writing to a String cannot fail");
    }
}
