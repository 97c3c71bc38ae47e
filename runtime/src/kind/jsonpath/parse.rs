//! Reads paths.
use super::{Comparison, Filter, Operand, Step};
use crate::schema::Document;

/// The maximum nesting depth of filters.
const MOST_NESTED: usize = 8;

pub(super) fn steps(text: &str, depth: usize) -> Result<Vec<Step>, String> {
    if depth > MOST_NESTED {
        return Err("filters nest too deeply".to_owned());
    }
    let (mut steps, mut rest) = (Vec::new(), text);
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix("..") {
            steps.push(Step::Descent);
            rest = after;
            if rest.starts_with('[') {
                continue;
            }
            rest = field(rest, &mut steps)?;
        } else if let Some(after) = rest.strip_prefix('.') {
            // A dot alone is the object, and a dot before a bracket has no meaning.
            rest = if after.is_empty() || after.starts_with('[') { after } else { field(after, &mut steps)? };
        } else if rest.starts_with('[') {
            let end = bracket_end(rest).ok_or("unterminated array")?;
            steps.push(bracket(&rest[1..end], depth)?);
            rest = &rest[end + 1..];
        } else if steps.is_empty() {
            rest = field(rest, &mut steps)?;
        } else {
            return Err(format!("unexpected {rest:?}"));
        }
    }
    Ok(steps)
}

/// Parses a field's name, in which a backslash escapes the next character. Also returns the rest.
fn field<'t>(text: &'t str, steps: &mut Vec<Step>) -> Result<&'t str, String> {
    let (mut name, mut chars) = (String::new(), text.char_indices());
    let mut end = text.len();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => name.extend(chars.next().map(|(_, c)| c)),
            '.' | '[' => {
                end = at;
                break;
            }
            ']' | '{' | '}' | '$' | '@' | ',' | ' ' | '\t' | '\n' | '"' | '\'' => {
                return Err(format!("unexpected {c:?} in a field's name"));
            }
            c => name.push(c),
        }
    }
    if name.is_empty() {
        return Err("a field without a name".to_owned());
    }
    steps.push(if name == "*" { Step::Wildcard } else { Step::Field(name) });
    Ok(&text[end..])
}

/// The position of the bracket that closes the first one.
fn bracket_end(text: &str) -> Option<usize> {
    let (mut depth, mut quote, mut escaped) = (0, None, false);
    for (at, c) in text.char_indices() {
        match (c, quote) {
            _ if escaped => escaped = false,
            ('\\', _) => escaped = true,
            (c, Some(open)) => quote = Some(open).filter(|open| c != *open),
            ('"' | '\'', None) => quote = Some(c),
            ('[', None) => depth += 1,
            (']', None) if depth == 1 => return Some(at),
            (']', None) => depth -= 1,
            _ => {}
        }
    }
    None
}

/// Parses the content of a bracket.
fn bracket(text: &str, depth: usize) -> Result<Step, String> {
    let text = text.trim();
    if let Some(filter) = text.strip_prefix("?(") {
        let filter = filter.strip_suffix(')').ok_or("unterminated filter")?;
        return Ok(Step::Filter(Box::new(self::filter(filter, depth)?)));
    }
    let parts = split(text);
    if parts.len() > 1 {
        return Ok(Step::Union(parts.into_iter().map(|part| bracket(part, depth)).collect::<Result<_, _>>()?));
    }
    if text == "*" {
        return Ok(Step::Wildcard);
    }
    if let Some(name) = unquoted(text) {
        return Ok(Step::Field(name));
    }
    let invalid = || format!("invalid array index {text:?}");
    let number = |text: &str| match text.trim() {
        "" => Ok(None),
        text => text.parse::<i64>().map(Some).map_err(|_| invalid()),
    };
    match text.split(':').collect::<Vec<_>>()[..] {
        [index] => number(index)?.map(Step::Index).ok_or_else(invalid),
        [from, to] => Ok(Step::Slice(number(from)?, number(to)?, 1)),
        [from, to, by] => match number(by)?.unwrap_or(1) {
            by if by > 0 => Ok(Step::Slice(number(from)?, number(to)?, by)),
            _ => Err("the step of a slice must be above zero".to_owned()),
        },
        _ => Err(invalid()),
    }
}

/// The parts of a text between commas outside of quotes, brackets and parentheses.
pub(in crate::kind) fn split(text: &str) -> Vec<&str> {
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

/// The text between quotes.
fn unquoted(text: &str) -> Option<String> {
    let inside = ['"', '\''].iter().find_map(|quote| text.strip_prefix(*quote)?.strip_suffix(*quote))?;
    Some(inside.replace(r"\'", "'").replace("\\\"", "\""))
}

fn filter(text: &str, depth: usize) -> Result<Filter, String> {
    let is_operator = |c: char| matches!(c, '=' | '!' | '<' | '>');
    let Some(at) = outside_of_quotes(text).find(|(_, c)| is_operator(*c)).map(|(at, _)| at) else {
        return Ok(Filter { left: operand(text, depth)?, comparison: None });
    };
    let length = text[at..].find(|c| !is_operator(c)).ok_or("a comparison with nothing")?;
    let comparison = match &text[at..at + length] {
        "==" => Comparison::Equal,
        "!=" => Comparison::NotEqual,
        "<" => Comparison::Less,
        "<=" => Comparison::LessOrEqual,
        ">" => Comparison::Greater,
        ">=" => Comparison::GreaterOrEqual,
        other => return Err(format!("unrecognized filter operator {other}")),
    };
    let left = operand(&text[..at], depth)?;
    Ok(Filter { left, comparison: Some((comparison, operand(&text[at + length..], depth)?)) })
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

fn operand(text: &str, depth: usize) -> Result<Operand, String> {
    let text = text.trim();
    if let Some(text) = unquoted(text) {
        return Ok(Operand::Literal(text.into()));
    }
    if let Some(path) = text.strip_prefix(['@', '$']) {
        return Ok(Operand::Path(steps(path, depth + 1)?));
    }
    match serde_json::from_str(text) {
        Ok(literal @ (Document::Number(_) | Document::Bool(_))) => Ok(Operand::Literal(literal)),
        _ => Ok(Operand::Path(steps(text, depth + 1)?)),
    }
}
