//! Parses paths as kube-apiserver does: from left to right, with the same incomplete handling of quotes in brackets.
use super::{Filter, Operator, Slice, Step};
use crate::schema::Document;

/// How deep filters and unions nest.
const MOST_NESTED: usize = 8;

/// The steps of a path.
pub(super) fn steps(path: &str) -> Result<Vec<Step>, String> {
    template(path, 0)
}

/// The steps of the first path of a template, which begins with one. The others are read, and have no effect.
fn template(path: &str, depth: usize) -> Result<Vec<Step>, String> {
    if depth > MOST_NESTED {
        return Err("filters nest too deeply".to_owned());
    }
    let text = format!("{path}}}");
    let mut reader = Reader { rest: &text, steps: Vec::new(), depth };
    reader.path()?;
    let first = std::mem::take(&mut reader.steps);
    while let Some((_, rest)) = reader.rest.split_once('{') {
        reader.rest = rest;
        reader.path()?;
    }
    Ok(first)
}

struct Reader<'t> {
    rest: &'t str,
    steps: Vec<Step>,
    depth: usize,
}

impl<'t> Reader<'t> {
    /// A path up to its closing brace.
    fn path(&mut self) -> Result<(), String> {
        loop {
            let here = self.rest;
            if let Some(rest) = here.strip_prefix('}') {
                self.rest = rest;
                return Ok(());
            }
            if let Some(rest) = here.strip_prefix("[?(") {
                self.rest = rest;
                self.filter()?;
                continue;
            }
            if let Some(rest) = here.strip_prefix("..") {
                self.rest = rest;
                self.descent()?;
                continue;
            }
            let Some(c) = here.chars().next().filter(|c| !is_end_of_line(*c)) else {
                return Err("unclosed action".to_owned());
            };
            match c {
                ' ' | '@' | '$' => self.rest = &here[1..],
                '[' => self.brackets()?,
                '"' | '\'' => self.quote(c)?,
                '.' => {
                    self.rest = &here[1..];
                    self.field();
                }
                '+' | '-' => self.number()?,
                c if is_digit(c) => self.number()?,
                c if is_alphanumeric(c) => self.identifier(),
                c => return Err(format!("unrecognized character in action: U+{:04X} '{c}'", u32::from(c))),
            }
        }
    }

    /// The text up to a place, which is skipped.
    fn take(&mut self, end: usize) -> &'t str {
        let (taken, rest) = self.rest.split_at(end);
        self.rest = rest;
        taken
    }

    /// A field's name, in which a backslash stands before a character that would end it.
    fn field(&mut self) {
        let mut chars = self.rest.char_indices();
        let mut end = self.rest.len();
        while let Some((at, c)) = chars.next() {
            if c == '\\' {
                chars.next();
            } else if is_terminator(c) {
                end = at;
                break;
            }
        }
        let name = self.take(end);
        self.steps.push(if name == "*" { Step::Wildcard } else { Step::Field(name.replace('\\', "")) });
    }

    fn descent(&mut self) -> Result<(), String> {
        if self.steps.last() == Some(&Step::Descent) {
            return Err("invalid multiple recursive descent".to_owned());
        }
        self.steps.push(Step::Descent);
        if self.rest.starts_with(is_alphanumeric) {
            self.field();
        }
        Ok(())
    }

    fn identifier(&mut self) {
        let word = self.take(self.rest.find(is_terminator).unwrap_or(self.rest.len()));
        self.steps.push(match word {
            "true" | "false" => Step::Literal((word == "true").into()),
            _ => Step::Identifier,
        });
    }

    fn number(&mut self) -> Result<(), String> {
        let sign = usize::from(self.rest.starts_with(['+', '-']));
        let digits = self.rest[sign..].find(|c: char| c != '.' && !is_digit(c)).unwrap_or(self.rest.len() - sign);
        let text = self.take(sign + digits);
        let number = match text.parse::<i64>() {
            Ok(integer) => Some(integer.into()),
            Err(_) => text.parse::<f64>().ok().filter(|double| double.is_finite()).map(Document::from),
        };
        self.steps.push(Step::Literal(number.ok_or_else(|| format!("cannot parse number {text}"))?));
        Ok(())
    }

    fn quote(&mut self, quote: char) -> Result<(), String> {
        let mut end = None;
        for (at, c) in self.rest.char_indices().skip(1) {
            if c == '\n' {
                break;
            }
            if c == quote && self.rest.as_bytes()[at - 1] != b'\\' {
                end = Some(at);
                break;
            }
        }
        let text = self.take(end.ok_or("unterminated quoted string")? + 1);
        let unquoted = unquoted(&text[1..text.len() - 1], quote)
            .ok_or_else(|| format!("unquote string {text} error invalid syntax"))?;
        self.steps.push(Step::Text(unquoted.into()));
        Ok(())
    }

    /// A wildcard, a union, a key, an index or a slice in brackets.
    fn brackets(&mut self) -> Result<(), String> {
        let end = self.rest.find([']', '\n']).filter(|end| self.rest[*end..].starts_with(']'));
        let text = self.take(end.ok_or("unterminated array")? + 1);
        let inside = &text[1..text.len() - 1];
        let inside = if inside == "*" { ":" } else { inside };
        if inside.contains(',') {
            let paths =
                inside.split(',').map(|part| template(&format!("[{}]", part.trim_matches(' ')), self.depth + 1));
            self.steps.push(Step::Union(paths.collect::<Result<_, _>>()?));
            return Ok(());
        }
        let key = inside.strip_prefix('\'').and_then(|text| text.strip_suffix('\'')).filter(|key| !key.contains('\''));
        match key {
            // A key may be several fields, where its points have no backslashes before them.
            Some(key) => self.steps.extend(template(&format!(".{key}"), self.depth + 1)?),
            None => self.steps.push(Step::Slice(slice(inside)?)),
        }
        Ok(())
    }

    fn filter(&mut self) -> Result<(), String> {
        // Only the first quote and the next one like it count.
        let (mut opened, mut is_closed, mut end) = (None, false, None);
        for (at, c) in self.rest.char_indices() {
            match c {
                '\n' => break,
                '"' | '\'' if opened.is_none() => opened = Some(c),
                '"' | '\'' => is_closed |= opened == Some(c) && self.rest.as_bytes()[at - 1] != b'\\',
                ')' if opened.is_some() == is_closed => {
                    end = Some(at);
                    break;
                }
                _ => {}
            }
        }
        let text = self.take(end.ok_or("unterminated filter")?);
        self.rest = self.rest.strip_prefix(")]").ok_or("unclosed array expect ]")?;
        let depth = self.depth + 1;
        let filter = match comparison(text) {
            None => Filter { left: template(text, depth)?, comparison: None },
            Some((left, operator, right)) => {
                Filter { left: template(left, depth)?, comparison: Some((operator, template(right, depth)?)) }
            }
        };
        self.steps.push(Step::Filter(Box::new(filter)));
        Ok(())
    }
}

/// The sides of a comparison. There is something on both.
fn comparison(text: &str) -> Option<(&str, Operator, &str)> {
    let is_operator = |c: char| matches!(c, '!' | '<' | '>' | '=');
    let start = text.find(is_operator).filter(|start| *start > 0)?;
    let (left, rest) = text.split_at(start);
    let signs = rest.find(|c| !is_operator(c)).unwrap_or(rest.len() - 1);
    let (operator, right) = rest.split_at(signs);
    let operator = match operator {
        "" => return None,
        "==" => Operator::Equal,
        "!=" => Operator::NotEqual,
        "<" => Operator::Less,
        "<=" => Operator::LessOrEqual,
        ">" => Operator::Greater,
        ">=" => Operator::GreaterOrEqual,
        _ => Operator::Unknown,
    };
    Some((left, operator, right))
}

/// `1`, `1:3`, `1:3:2`, and these without some of the numbers.
fn slice(text: &str) -> Result<Slice, String> {
    let parts: Vec<&str> = text.split(':').collect();
    let is_number = |part: &&str| part.strip_prefix('-').unwrap_or(part).bytes().all(|byte| byte.is_ascii_digit());
    if parts.len() > 3 || !parts.iter().all(is_number) {
        return Err(format!("invalid array index {text}"));
    }
    let number = |part: Option<&&str>| match part {
        None | Some(&"") => Ok(None),
        Some(part) => part.parse::<i64>().map(Some).map_err(|_| format!("array index {part} is not a number")),
    };
    let from = number(parts.first())?.unwrap_or(0);
    let is_index = parts.len() == 1;
    let to = if is_index { Some(from.saturating_add(1)) } else { number(parts.get(1))? };
    Ok(Slice { from, to, is_index, by: number(parts.get(2))?.unwrap_or(1) })
}

/// A text in quotes with its escapes resolved, as Go has them.
fn unquoted(text: &str, quote: char) -> Option<String> {
    let mut out = Vec::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            let mut buffer = [0; 4];
            (c != quote).then(|| out.extend_from_slice(c.encode_utf8(&mut buffer).as_bytes()))?;
            continue;
        }
        let code = match chars.clone().next()? {
            letter @ ('x' | 'u' | 'U') => {
                chars.next();
                match letter {
                    'x' => Code::Byte(digits_of(&mut chars, 2, 16)?),
                    'u' => Code::Character(digits_of(&mut chars, 4, 16)?),
                    _ => Code::Character(digits_of(&mut chars, 8, 16)?),
                }
            }
            '0'..='7' => Code::Byte(digits_of(&mut chars, 3, 8)?),
            other => {
                chars.next();
                Code::Byte(u32::from(escaped(other, quote)?))
            }
        };
        match code {
            Code::Byte(byte) => out.push(u8::try_from(byte).ok()?),
            Code::Character(code) => {
                let mut buffer = [0; 4];
                out.extend_from_slice(char::from_u32(code)?.encode_utf8(&mut buffer).as_bytes());
            }
        }
    }
    Some(String::from_utf8_lossy(&out).into_owned())
}

/// The value of an escape.
enum Code {
    Byte(u32),
    Character(u32),
}

/// The number of so many digits.
fn digits_of(chars: &mut std::str::Chars<'_>, count: usize, radix: u32) -> Option<u32> {
    (0..count).try_fold(0u32, |sum, _| sum.checked_mul(radix)?.checked_add(chars.next()?.to_digit(radix)?))
}

/// The byte for which a letter after a backslash stands.
fn escaped(c: char, quote: char) -> Option<u8> {
    Some(match c {
        'a' => 0x07,
        'b' => 0x08,
        'f' => 0x0c,
        'n' => b'\n',
        'r' => b'\r',
        't' => b'\t',
        'v' => 0x0b,
        '\\' => b'\\',
        '\'' | '"' if c == quote => u8::try_from(c).ok()?,
        _ => return None,
    })
}

fn is_end_of_line(c: char) -> bool {
    matches!(c, '\r' | '\n')
}

/// A character that ends a name.
fn is_terminator(c: char) -> bool {
    is_end_of_line(c) || matches!(c, ' ' | '\t' | '.' | ',' | '[' | ']' | '$' | '@' | '{' | '}')
}

/// A decimal digit of any script.
fn is_digit(c: char) -> bool {
    c.is_ascii_digit() || !c.is_ascii() && c.is_numeric()
}

fn is_alphanumeric(c: char) -> bool {
    c == '_' || c.is_alphabetic() || is_digit(c)
}

/// The parts of a text between commas outside of quotes, brackets and parentheses.
pub(crate) fn split(text: &str) -> Vec<&str> {
    let (mut parts, mut start, mut depth) = (Vec::new(), 0, 0);
    for (at, c) in outside_of_quotes(text) {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

fn outside_of_quotes(text: &str) -> impl Iterator<Item = (usize, char)> {
    let mut quote = None;
    text.char_indices().filter(move |(_, c)| {
        let was_quoted = quote.is_some();
        match (quote, *c) {
            (Some(open), c) if c == open => quote = None,
            (None, c @ ('"' | '\'')) => quote = Some(c),
            _ => {}
        }
        !was_quoted && quote.is_none()
    })
}
