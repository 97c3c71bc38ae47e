//! Finds the values at paths, step by step: each step takes all values of the one before. A step that is not possible for one of
//! them ends the whole search, as in kube-apiserver.
use std::sync::LazyLock;

use super::{CellMeter, Filter, Operator, Slice, Step};
use crate::schema::Document;

/// Values so far.
type Values<'a> = Vec<&'a Document>;

/// Why a search ends without a result: a step is not possible, or the meter is exhausted. A filter that asks whether something exists
/// takes the values for found.
struct Failure<'a>(Values<'a>);

/// The bytes of text, which wildcards and descents find in it.
static BYTES: LazyLock<Vec<Document>> = LazyLock::new(|| (0..=u8::MAX).map(Document::from).collect());

/// The values at a path.
pub(super) fn values<'a>(steps: &'a [Step], from: &'a Document, meter: &CellMeter) -> Values<'a> {
    // The fields of ordinary columns need no lists.
    let (mut at, mut rest) = (Some(from), steps);
    while let (Some(value), [Step::Field(name), after @ ..]) = (at, rest) {
        (at, rest) = (value.get(name).filter(|_| meter.visit()), after);
    }
    walk(rest, at.into_iter().collect(), meter).ok().filter(|_| !meter.is_exhausted()).unwrap_or_default()
}

fn walk<'a>(steps: &'a [Step], mut values: Values<'a>, meter: &CellMeter) -> Result<Values<'a>, Failure<'a>> {
    for step in steps {
        values = take(step, values, meter)?;
        if meter.is_exhausted() {
            return Err(Failure(Vec::new()));
        }
    }
    Ok(values)
}

fn take<'a>(step: &'a Step, values: Values<'a>, meter: &CellMeter) -> Result<Values<'a>, Failure<'a>> {
    let mut found = Vec::new();
    match step {
        Step::Field(name) => {
            found.extend(values.into_iter().filter(|_| meter.visit()).filter_map(|value| value.get(name)));
        }
        Step::Slice(slice) => return slice.take(values, meter),
        Step::Wildcard => values.into_iter().for_each(|value| found.extend(members(value, meter))),
        Step::Descent => values.into_iter().for_each(|value| descend(value, &mut found, meter)),
        Step::Union(paths) => {
            for path in paths {
                match walk(path, values.clone(), meter) {
                    Ok(more) => found.extend(more),
                    Err(_) => return Err(Failure(values)),
                }
            }
        }
        Step::Filter(filter) => return filter.take(values, meter),
        Step::Text(text) => found.push(text),
        Step::Literal(literal) => found.extend(values.into_iter().filter(|_| meter.visit()).map(|_| literal)),
        Step::Identifier => return Err(Failure(values)),
    }
    Ok(found)
}

/// The entries, items or bytes of a value.
fn members<'a>(of: &'a Document, meter: &CellMeter) -> Values<'a> {
    let allowed = |_: &&Document| meter.visit();
    match of {
        Document::Object(fields) => fields.values().take_while(allowed).collect(),
        Document::Array(items) => items.iter().take_while(allowed).collect(),
        Document::String(text) => {
            let bytes = BYTES.as_slice();
            text.bytes().map(|byte| &bytes[usize::from(byte)]).take_while(allowed).collect()
        }
        _ => Vec::new(),
    }
}

/// A value that has members, and those of its members that have some, and so on.
fn descend<'a>(value: &'a Document, found: &mut Values<'a>, meter: &CellMeter) {
    let mut stack = vec![value];
    while let Some(value) = stack.pop() {
        if let Document::String(text) = value {
            // Bytes have no members.
            found.extend((!text.is_empty()).then_some(value));
            continue;
        }
        let members = members(value, meter);
        if !members.is_empty() {
            found.push(value);
        }
        stack.extend(members.into_iter().rev());
        if meter.is_exhausted() {
            return;
        }
    }
}

impl Slice {
    fn take<'a>(self, values: Values<'a>, meter: &CellMeter) -> Result<Values<'a>, Failure<'a>> {
        let mut found = Vec::new();
        for value in values.iter().take_while(|_| meter.visit()) {
            let items = match value {
                Document::Null => continue,
                Document::Array(items) => items,
                _ => return Err(Failure(values)),
            };
            let length = i64::try_from(items.len()).unwrap_or(i64::MAX);
            let at = |index: i64| if index < 0 { index.saturating_add(length) } else { index };
            let from = at(self.from);
            let to = match self.to {
                None => length,
                // The item after the last one is the end.
                Some(0) if self.is_index => length,
                Some(to) => at(to),
            };
            if from == to {
                return Ok(found);
            }
            let range = usize::try_from(from).ok().zip(usize::try_from(to).ok());
            let items = range.filter(|(from, to)| from < to).and_then(|(from, to)| items.get(from..to));
            let (Some(items), Ok(by @ 1..)) = (items, usize::try_from(self.by)) else { return Err(Failure(values)) };
            found.extend(items.iter().step_by(by).take_while(|_| meter.visit()));
        }
        Ok(found)
    }
}

impl Filter {
    fn take<'a>(&'a self, values: Values<'a>, meter: &CellMeter) -> Result<Values<'a>, Failure<'a>> {
        let mut found = Vec::new();
        for value in &values {
            let Document::Array(items) = value else { return Err(Failure(values)) };
            for item in items.iter().take_while(|_| meter.visit()) {
                match self.takes(item, meter) {
                    Ok(true) => found.push(item),
                    Ok(false) => {}
                    Err(Impossible::Before) => return Err(Failure(values)),
                    Err(Impossible::Comparison) => return Err(Failure(found)),
                }
            }
        }
        Ok(found)
    }

    fn takes(&self, item: &Document, meter: &CellMeter) -> Result<bool, Impossible> {
        let left = walk(&self.left, vec![item], meter);
        let Some((operator, right)) = &self.comparison else {
            return Ok(!left.unwrap_or_else(|Failure(values)| values).is_empty());
        };
        let Some(left) = single(left)? else { return Ok(false) };
        let Some(right) = single(walk(right, vec![item], meter))? else { return Ok(false) };
        operator.holds(left, right).ok_or(Impossible::Comparison)
    }
}

/// What is not possible in a filter.
enum Impossible {
    /// To find what is compared.
    Before,
    /// To compare it.
    Comparison,
}

/// The only value, if there is one. There must not be several.
fn single<'a>(found: Result<Values<'a>, Failure<'a>>) -> Result<Option<&'a Document>, Impossible> {
    match found.map_err(|_| Impossible::Before)?[..] {
        [] => Ok(None),
        [one] => Ok(Some(one)),
        _ => Err(Impossible::Before),
    }
}

impl Operator {
    /// `None` if values of these types cannot be compared.
    fn holds(self, left: &Document, right: &Document) -> Option<bool> {
        let equal = match (left, right) {
            (Document::String(left), Document::String(right)) => left == right,
            (Document::Bool(left), Document::Bool(right)) => left == right,
            (Document::Number(left), Document::Number(right)) if left.is_i64() == right.is_i64() => {
                left.as_f64() == right.as_f64()
            }
            _ => return None,
        };
        let less = match (left, right) {
            (Document::String(left), Document::String(right)) => Some(left < right),
            (Document::Number(left), Document::Number(right)) => Some(match (left.as_i64(), right.as_i64()) {
                (Some(left), Some(right)) => left < right,
                _ => left.as_f64() < right.as_f64(),
            }),
            _ => None,
        };
        Some(match self {
            Self::Equal => equal,
            Self::NotEqual => !equal,
            Self::Less => less?,
            Self::LessOrEqual => less? || equal,
            Self::Greater => !(less? || equal),
            Self::GreaterOrEqual => !less?,
            Self::Unknown => return None,
        })
    }
}
