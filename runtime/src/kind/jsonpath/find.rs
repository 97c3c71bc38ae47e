//! Finds the values at paths, one by one. What is to be looked at yet is on a stack, as deep as the path and the document.
use std::{cmp::Ordering, iter::StepBy, slice};

use serde_json::map;

use super::{CellMeter, Comparison, Filter, Operand, Step};
use crate::schema::Document;

/// The values at a path, in the order of the document.
pub(super) struct Found<'a> {
    /// Values that are at the beginning of the path, each with the steps that lead on from it.
    stack: Vec<(Values<'a>, &'a [Step])>,
    meter: &'a CellMeter,
}

/// The values to which a step leads from a value.
enum Values<'a> {
    One(Option<&'a Document>),
    Fields(map::Values<'a>),
    Items(StepBy<slice::Iter<'a, Document>>),
    /// The items that pass a filter.
    Passing(&'a Filter, slice::Iter<'a, Document>),
    /// The values to which other steps lead.
    Union(slice::Iter<'a, Step>, &'a Document),
    /// A value and all values in it: the value is yet to come.
    Descent(&'a Document),
    /// The values in the members of a value.
    Below(Box<Values<'a>>),
}

/// What comes next.
enum Next<'a> {
    Value(&'a Document),
    /// These come next, with the same steps after them.
    Values(Values<'a>),
    /// An item that does not pass.
    Nothing,
}

impl<'a> Found<'a> {
    pub(super) fn new(steps: &'a [Step], from: &'a Document, meter: &'a CellMeter) -> Self {
        Self { stack: vec![(Values::One(Some(from)), steps)], meter }
    }
}

impl<'a> Iterator for Found<'a> {
    type Item = &'a Document;

    fn next(&mut self) -> Option<&'a Document> {
        while let Some((values, steps)) = self.stack.last_mut() {
            let steps = *steps;
            let Some(next) = values.next(self.meter) else {
                self.stack.pop();
                continue;
            };
            if !self.meter.visit() {
                self.stack.clear();
                return None;
            }
            match (next, steps.split_first()) {
                (Next::Nothing, _) => {}
                (Next::Values(values), _) => self.stack.push((values, steps)),
                (Next::Value(value), None) => return Some(value),
                (Next::Value(value), Some((step, after))) => self.stack.push((Values::of(step, value), after)),
            }
        }
        None
    }
}

impl<'a> Values<'a> {
    fn of(step: &'a Step, at: &'a Document) -> Self {
        match (step, at) {
            (Step::Field(name), Document::Object(fields)) => Self::One(fields.get(name)),
            (Step::Wildcard, _) => Self::members(at),
            (Step::Index(index), Document::Array(items)) => Self::One(position(*index, items)),
            (Step::Slice(from, to, by), Document::Array(items)) => Self::Items(slice(items, *from, *to, *by)),
            (Step::Union(steps), _) => Self::Union(steps.iter(), at),
            (Step::Filter(filter), Document::Array(items)) => Self::Passing(filter, items.iter()),
            (Step::Descent, _) => Self::Descent(at),
            _ => Self::One(None),
        }
    }

    fn members(of: &'a Document) -> Self {
        match of {
            Document::Object(fields) => Self::Fields(fields.values()),
            Document::Array(items) => Self::Items(items.iter().step_by(1)),
            _ => Self::One(None),
        }
    }

    fn next(&mut self, meter: &CellMeter) -> Option<Next<'a>> {
        match self {
            Self::One(value) => value.take().map(Next::Value),
            Self::Fields(values) => values.next().map(Next::Value),
            Self::Items(items) => items.next().map(Next::Value),
            Self::Passing(filter, items) => {
                let item = items.next()?;
                Some(if filter.takes(item, meter) { Next::Value(item) } else { Next::Nothing })
            }
            Self::Union(steps, at) => {
                let at = *at;
                steps.next().map(|step| Next::Values(Self::of(step, at)))
            }
            Self::Descent(at) => {
                let at = *at;
                *self = Self::Below(Self::members(at).into());
                Some(Next::Value(at))
            }
            Self::Below(members) => match members.next(meter)? {
                Next::Value(member) => Some(Next::Values(Self::Descent(member))),
                other => Some(other),
            },
        }
    }
}

fn position(index: i64, items: &[Document]) -> Option<&Document> {
    let index = if index < 0 { i64::try_from(items.len()).ok()?.checked_add(index)? } else { index };
    items.get(usize::try_from(index).ok()?)
}

fn slice(items: &[Document], from: Option<i64>, to: Option<i64>, by: i64) -> StepBy<slice::Iter<'_, Document>> {
    let length = i64::try_from(items.len()).unwrap_or(i64::MAX);
    let bound = |at: i64| if at < 0 { length.saturating_add(at).max(0) } else { at.min(length) };
    let (from, to) = (bound(from.unwrap_or(0)), bound(to.unwrap_or(length)));
    let by = usize::try_from(by).unwrap_or(1);
    let within = usize::try_from(from).unwrap_or(0)..usize::try_from(to.max(from)).unwrap_or(0);
    items[within].iter().step_by(by)
}

impl Filter {
    fn takes(&self, item: &Document, meter: &CellMeter) -> bool {
        let Some((comparison, right)) = &self.comparison else { return self.left.exists(item, meter) };
        // Only single values are compared.
        let (Some(left), Some(right)) = (self.left.single(item, meter), right.single(item, meter)) else {
            return false;
        };
        comparison.holds(left, right)
    }
}

impl Operand {
    fn exists(&self, item: &Document, meter: &CellMeter) -> bool {
        match self {
            Self::Path(steps) => Found::new(steps, item, meter).next().is_some(),
            Self::Literal(_) => true,
        }
    }

    /// The only value.
    fn single<'a>(&'a self, item: &'a Document, meter: &'a CellMeter) -> Option<&'a Document> {
        match self {
            Self::Path(steps) => {
                let mut found = Found::new(steps, item, meter);
                found.next().filter(|_| found.next().is_none())
            }
            Self::Literal(literal) => Some(literal),
        }
    }
}

impl Comparison {
    pub(super) fn holds(self, left: &Document, right: &Document) -> bool {
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
