//! Patterns as Go reads them (RE2): the same expression in the syntax of the `regex` crate, or why Go refuses it.
//!
//! The two differ in what classes such as `\d` hold (ASCII in Go), in operators within classes, in what a brace without a
//! count is, and in a few escapes.
use std::fmt::Write;

use regex_syntax::ast::{self, ErrorKind};

use crate::{
    kind::budget::classes,
    meta::field::beginning,
    schema::{Pattern, pattern::Dialect},
};

/// How often at most something may be repeated.
const MOST_REPEATED: u32 = 1_000;

/// How much of a pattern a message shows.
const SHOWN: usize = 80;

/// The longest pattern, in bytes.
const LONGEST: usize = 16 << 10;

/// How many classes of Unicode a pattern has at most: each is hundreds of ranges.
const MOST_CLASSES: usize = 100;

/// The largest pattern when it is compiled, in bytes.
const LARGEST: u64 = 4 << 20;

/// The pattern of a definition.
///
/// # Errors
/// Why Go refuses it, in its words, or that it is too large.
pub(in crate::kind) fn read(pattern: &str) -> Result<Pattern, String> {
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

/// The pattern in the syntax of the `regex` crate.
///
/// # Errors
/// Why the pattern is no regular expression, in Go's words.
fn translate(pattern: &str) -> Result<String, String> {
    let mut translator = Translator { rest: pattern, out: String::new(), repeated: None };
    translator.run().map_err(|(what, text)| refused(what, text))?;
    match ast::parse::Parser::new().parse(&translator.out) {
        Ok(_) => Ok(translator.out),
        Err(error) => Err(match error.kind() {
            ErrorKind::GroupUnclosed => refused("missing closing )", pattern),
            ErrorKind::GroupUnopened => refused("unexpected )", pattern),
            ErrorKind::RepetitionMissing => {
                let operator = &translator.out[error.span().start.offset..];
                let length = if operator.starts_with('{') { count(operator) } else { Some(1) };
                let shown = length.and_then(|length| operator.get(..length)).unwrap_or(operator);
                refused("missing argument to repetition operator", shown)
            }
            ErrorKind::UnsupportedLookAround => {
                let found = &translator.out[error.span().start.offset..error.span().end.offset];
                refused("invalid or unsupported Perl syntax", found.get(..3).unwrap_or(found))
            }
            ErrorKind::RepetitionCountInvalid => {
                refused("invalid repeat count", &translator.out[error.span().start.offset..error.span().end.offset])
            }
            other => format!("error parsing regexp: {other}: `{pattern}`"),
        }),
    }
}

fn refused(what: &str, text: &str) -> String {
    format!("error parsing regexp: {what}: `{text}`")
}

/// What is wrong, and the part of the pattern that Go shows.
type Refusal<'p> = (&'static str, &'p str);

struct Translator<'p> {
    rest: &'p str,
    out: String,
    /// Where the repetition operator begins that was read last, if nothing came after it.
    repeated: Option<&'p str>,
}

impl<'p> Translator<'p> {
    fn run(&mut self) -> Result<(), Refusal<'p>> {
        while let Some(next) = self.rest.chars().next() {
            let here = self.rest;
            match next {
                '\\' => self.escape()?,
                '[' => self.class()?,
                '*' | '+' | '?' => {
                    self.skip(1);
                    self.repetition(here)?;
                    continue;
                }
                '{' if let Some(length) = count(here) => {
                    self.skip(length);
                    self.repetition(here)?;
                    continue;
                }
                '{' => {
                    self.skip(1);
                    self.out.push_str(r"\{");
                }
                '}' => {
                    self.skip(1);
                    self.out.push_str(r"\}");
                }
                // The question mark after a group's opening is not a repetition operator.
                '(' if here.starts_with("(?") => {
                    self.skip(2);
                    self.out.push_str("(?");
                }
                other => {
                    self.skip(other.len_utf8());
                    self.out.push(other);
                }
            }
            self.repeated = None;
        }
        Ok(())
    }

    fn skip(&mut self, bytes: usize) {
        self.rest = &self.rest[bytes..];
    }

    /// Copies a repetition operator, which has been skipped, and the `?` that makes it lazy.
    fn repetition(&mut self, from: &'p str) -> Result<(), Refusal<'p>> {
        let operator = &from[..from.len() - self.rest.len()];
        let mut counts = operator
            .trim_matches(['{', '}'])
            .split(',')
            .filter(|count| count.starts_with(|c: char| c.is_ascii_digit()));
        if counts.any(|count| !count.parse().is_ok_and(|count: u32| count <= MOST_REPEATED)) {
            return Err(("invalid repeat count", operator));
        }
        if let Some(before) = self.repeated {
            return Err(("invalid nested repetition operator", &before[..before.len() - self.rest.len()]));
        }
        self.out.push_str(operator);
        if self.rest.starts_with('?') {
            self.skip(1);
            self.out.push('?');
        }
        self.repeated = Some(from);
        Ok(())
    }

    /// An escape outside of classes.
    fn escape(&mut self) -> Result<(), Refusal<'p>> {
        let here = self.rest;
        match here[1..].chars().next() {
            Some('Q') => {
                let quoted = &here[2..];
                let (text, after) = quoted.split_once(r"\E").unwrap_or((quoted, ""));
                text.chars().for_each(|c| literal(c, &mut self.out));
                self.rest = after;
            }
            Some('b') => {
                self.skip(2);
                self.out.push_str(r"(?-u:\b)");
            }
            Some(c @ ('B' | 'A' | 'z')) => {
                self.skip(2);
                self.out.extend(['\\', c]);
            }
            _ => {
                if let Some(set) = self.set()? {
                    let _ = write!(self.out, "[{set}]");
                } else {
                    let c = self.character()?;
                    literal(c, &mut self.out);
                }
            }
        }
        Ok(())
    }

    /// What a class escape such as `\d` holds, as the inside of a class; `None` for any other escape.
    fn set(&mut self) -> Result<Option<String>, Refusal<'p>> {
        let here = self.rest;
        let set = match here[1..].chars().next() {
            Some('d') => "0-9",
            Some('D') => "^0-9",
            Some('s') => r"\t\n\f\r\x20",
            Some('S') => r"^\t\n\f\r\x20",
            Some('w') => "0-9A-Za-z_",
            Some('W') => "^0-9A-Za-z_",
            Some('p' | 'P') => {
                let name = &here[2..];
                let length = if name.starts_with('{') {
                    name.find('}').map(|end| end + 1)
                } else {
                    name.chars().next().map(char::len_utf8)
                };
                let Some(length) = length else { return Err(("invalid character class range", here)) };
                self.skip(2 + length);
                return Ok(Some(here[..2 + length].to_owned()));
            }
            _ => return Ok(None),
        };
        self.skip(2);
        Ok(Some(set.to_owned()))
    }

    /// An escape that stands for one character.
    fn character(&mut self) -> Result<char, Refusal<'p>> {
        let here = self.rest;
        let Some(c) = here[1..].chars().next() else {
            return Err(("trailing backslash at end of expression", ""));
        };
        let after = &here[1 + c.len_utf8()..];
        let invalid = ("invalid escape sequence", &here[..=c.len_utf8()]);
        let (found, length) = match c {
            'a' => ('\x07', 0),
            'f' => ('\x0c', 0),
            'n' => ('\n', 0),
            'r' => ('\r', 0),
            't' => ('\t', 0),
            'v' => ('\x0b', 0),
            'x' => {
                let (digits, length) = match after.strip_prefix('{').and_then(|digits| digits.split_once('}')) {
                    Some((digits, _)) => (digits, digits.len() + 2),
                    None => (after.get(..2).unwrap_or_default(), 2),
                };
                let found = u32::from_str_radix(digits, 16).ok().and_then(char::from_u32);
                (found.ok_or(invalid)?, length)
            }
            '0'..='7' => {
                let octal = |text: &str| text.bytes().take(2).take_while(|b| (b'0'..b'8').contains(b)).count();
                let more = octal(after);
                if c != '0' && more == 0 {
                    return Err(invalid);
                }
                let found = u32::from_str_radix(&here[1..2 + more], 8).ok().and_then(char::from_u32);
                (found.ok_or(invalid)?, more)
            }
            c if c.is_ascii() && !c.is_ascii_alphanumeric() => (c, 0),
            _ => return Err(invalid),
        };
        self.skip(1 + c.len_utf8() + length);
        Ok(found)
    }

    fn class(&mut self) -> Result<(), Refusal<'p>> {
        let whole = self.rest;
        let unclosed = ("missing closing ]", whole);
        self.skip(1);
        self.out.push('[');
        if self.rest.starts_with('^') {
            self.skip(1);
            self.out.push('^');
        }
        let mut first = true;
        loop {
            let here = self.rest;
            let next = here.chars().next().ok_or(unclosed)?;
            if next == ']' && !first {
                break;
            }
            first = false;
            if here.starts_with("[:")
                && let Some(end) = here.find(":]")
            {
                self.out.push_str(&here[..end + 2]);
                self.skip(end + 2);
                continue;
            }
            if next == '\\'
                && let Some(set) = self.set()?
            {
                let _ = if set.starts_with('^') { write!(self.out, "[{set}]") } else { write!(self.out, "{set}") };
                continue;
            }
            let low = self.member(unclosed)?;
            literal(low, &mut self.out);
            if self.rest.starts_with('-') && !self.rest[1..].starts_with(']') && self.rest.len() > 1 {
                self.skip(1);
                let high = self.member(unclosed)?;
                if high < low {
                    return Err(("invalid character class range", &here[..here.len() - self.rest.len()]));
                }
                self.out.push('-');
                literal(high, &mut self.out);
            }
        }
        self.skip(1);
        self.out.push(']');
        Ok(())
    }

    /// A character of a class.
    fn member(&mut self, unclosed: Refusal<'p>) -> Result<char, Refusal<'p>> {
        let next = self.rest.chars().next().ok_or(unclosed)?;
        if next == '\\' {
            return self.character();
        }
        self.skip(next.len_utf8());
        Ok(next)
    }
}

/// A character that stands for itself.
fn literal(c: char, out: &mut String) {
    if c.is_alphanumeric() || c == '_' || !c.is_ascii() {
        out.push(c);
    } else {
        let _ = write!(out, r"\x{{{:x}}}", u32::from(c));
    }
}

/// The length of the count that a text begins with, such as `{2,5}`; `None` for a brace that stands for itself.
fn count(text: &str) -> Option<usize> {
    let (inside, _) = text[1..].split_once('}')?;
    let (least, most) = inside.split_once(',').map_or((inside, None), |(least, most)| (least, Some(most)));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let counted = !least.is_empty() && digits(least) && most.is_none_or(digits);
    counted.then_some(inside.len() + 2)
}

#[cfg(test)]
#[path = "pattern_tests.rs"]
mod tests;
