//! The JSONPath of columns, as in kubectl and kube-apiserver: fields, indexes, slices, wildcards, descent, unions and
//! filters. If an object lacks the values of a path, the result is empty.
use std::{cmp::Ordering, fmt};

use crate::schema::Document;

/// The maximum nesting depth of filters.
const MOST_NESTED: usize = 8;

/// A JSONPath such as `.status.conditions[?(@.type=="Ready")].status`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonPath {
    text: String,
    steps: Vec<Step>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Field(String),
    /// Start, end and step.
    Slice(Option<i64>, Option<i64>, i64),
    Index(i64),
    Wildcard,
    Descent,
    Union(Vec<Step>),
    Filter(Box<Filter>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Filter {
    left: Operand,
    /// `None` tests if the left side exists.
    comparison: Option<(Comparison, Operand)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Operand {
    Path(Vec<Step>),
    Literal(Document),
}

impl JsonPath {
    /// Parses a path, which may be in braces.
    ///
    /// # Errors
    /// A description of the syntax error.
    pub fn parse(text: &str) -> Result<Self, String> {
        let inside = text.strip_prefix('{').and_then(|text| text.strip_suffix('}')).unwrap_or(text);
        Ok(Self { text: text.to_owned(), steps: steps(inside.strip_prefix('$').unwrap_or(inside), 0)? })
    }

    /// The names of the fields, if the path consists only of fields.
    pub fn names(&self) -> Option<Vec<String>> {
        let name = |step: &Step| if let Step::Field(name) = step { Some(name.clone()) } else { None };
        self.steps.iter().map(name).collect()
    }

    /// The values at the path, in the order of the document.
    pub fn find<'d>(&self, document: &'d Document) -> Vec<&'d Document> {
        walk(&self.steps, document)
    }
}

impl fmt::Display for JsonPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

fn steps(text: &str, depth: usize) -> Result<Vec<Step>, String> {
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
pub(super) fn split(text: &str) -> Vec<&str> {
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

fn walk<'d>(steps: &[Step], from: &'d Document) -> Vec<&'d Document> {
    let mut found = vec![from];
    for step in steps {
        found = found.into_iter().flat_map(|at| take(step, at)).collect();
    }
    found
}

fn take<'d>(step: &Step, at: &'d Document) -> Vec<&'d Document> {
    match (step, at) {
        (Step::Field(name), Document::Object(fields)) => fields.get(name).into_iter().collect(),
        (Step::Wildcard, Document::Object(fields)) => fields.values().collect(),
        (Step::Wildcard, Document::Array(items)) => items.iter().collect(),
        (Step::Index(index), Document::Array(items)) => position(*index, items).into_iter().collect(),
        (Step::Slice(from, to, by), Document::Array(items)) => slice(items, *from, *to, *by),
        (Step::Union(steps), _) => steps.iter().flat_map(|step| take(step, at)).collect(),
        (Step::Filter(filter), Document::Array(items)) => items.iter().filter(|item| filter.takes(item)).collect(),
        (Step::Descent, _) => descent(at),
        _ => Vec::new(),
    }
}

fn position(index: i64, items: &[Document]) -> Option<&Document> {
    let index = if index < 0 { i64::try_from(items.len()).ok()?.checked_add(index)? } else { index };
    items.get(usize::try_from(index).ok()?)
}

fn slice(items: &[Document], from: Option<i64>, to: Option<i64>, by: i64) -> Vec<&Document> {
    let length = i64::try_from(items.len()).unwrap_or(i64::MAX);
    let bound = |at: i64| if at < 0 { (length + at).max(0) } else { at.min(length) };
    let (from, to) = (bound(from.unwrap_or(0)), bound(to.unwrap_or(length)));
    let by = usize::try_from(by).unwrap_or(1);
    let within = usize::try_from(from).unwrap_or(0)..usize::try_from(to.max(from)).unwrap_or(0);
    items[within].iter().step_by(by).collect()
}

/// A value and all values in it.
fn descent(at: &Document) -> Vec<&Document> {
    let mut found = vec![at];
    match at {
        Document::Object(fields) => found.extend(fields.values().flat_map(descent)),
        Document::Array(items) => found.extend(items.iter().flat_map(descent)),
        _ => {}
    }
    found
}

impl Filter {
    fn takes(&self, item: &Document) -> bool {
        let left = self.left.values(item);
        let Some((comparison, right)) = &self.comparison else { return !left.is_empty() };
        // Only single values are compared.
        let ([left], [right]) = (&left[..], &right.values(item)[..]) else { return false };
        comparison.holds(left, right)
    }
}

impl Operand {
    fn values<'o>(&'o self, item: &'o Document) -> Vec<&'o Document> {
        match self {
            Self::Path(steps) => walk(steps, item),
            Self::Literal(literal) => vec![literal],
        }
    }
}

impl Comparison {
    fn holds(self, left: &Document, right: &Document) -> bool {
        let order = match (left, right) {
            (Document::String(left), Document::String(right)) => Some(left.cmp(right)),
            (Document::Number(left), Document::Number(right)) => left.as_f64().partial_cmp(&right.as_f64()),
            (Document::Bool(left), Document::Bool(right)) if left == right => Some(Ordering::Equal),
            (Document::Bool(_), Document::Bool(_)) => return self == Self::NotEqual,
            _ => None,
        };
        // Values of different types cannot be compared, not even as unequal.
        order.is_some_and(|order| match self {
            Self::Equal => order.is_eq(),
            Self::NotEqual => order.is_ne(),
            Self::Less => order.is_lt(),
            Self::LessOrEqual => order.is_le(),
            Self::Greater => order.is_gt(),
            Self::GreaterOrEqual => order.is_ge(),
        })
    }
}

#[cfg(test)]
#[path = "jsonpath_tests.rs"]
mod tests;
