//! The assumptions about the values in an expression.
use std::collections::BTreeMap;

use kindsmith_cel::syntax::ast::Expr;

use super::{
    key,
    scope::Scope,
    values::{Comparison, Values},
};

/// Facts that hold together. Expressions are known by their keys.
#[derive(Clone, Default)]
pub(super) struct Facts<'e> {
    /// Which conditions hold.
    pub(super) conditions: BTreeMap<String, bool>,
    /// Which fields are there.
    pub(super) present: BTreeMap<String, bool>,
    /// What operands may be.
    pub(super) values: BTreeMap<String, Values>,
    /// What holds for each element of a list or map.
    pub(super) each: Vec<Each<'e>>,
}

/// A condition that holds for each element.
#[derive(Clone)]
pub(super) struct Each<'e> {
    /// The key of the list or map.
    pub(super) range: String,
    /// The number of variables.
    pub(super) variables: usize,
    /// The condition.
    pub(super) predicate: &'e Expr,
    /// Its variables.
    pub(super) scope: Scope<'e>,
}

impl Facts<'_> {
    /// An operand has one of these values.
    pub(super) fn narrow(&mut self, key: String, by: Values) {
        let known = self.values.remove(&key).unwrap_or(Values::Any);
        self.values.insert(key, known.narrowed(by));
    }

    /// What an order of two operands says of their other comparisons.
    pub(super) fn order(&mut self, comparison: Comparison, holds: bool, one: &str, other: &str) {
        use Comparison::{Equals, Less, LessEquals};
        let mut know = |comparison: Comparison, one: &str, other: &str, holds: bool| {
            self.conditions.insert(key::between(comparison, one, other), holds);
        };
        let less = match (comparison, holds) {
            (Less, true) => Some((one, other)),
            (LessEquals, false) => Some((other, one)),
            _ => None,
        };
        if let Some((less, more)) = less {
            know(Less, less, more, true);
            know(LessEquals, less, more, true);
            know(Less, more, less, false);
            know(LessEquals, more, less, false);
            know(Equals, less, more, false);
        }
        match (comparison, holds) {
            (Less, false) => know(LessEquals, other, one, true),
            (LessEquals, true) => know(Less, other, one, false),
            (Equals, true) => {
                for (one, other) in [(one, other), (other, one)] {
                    know(Less, one, other, false);
                    know(LessEquals, one, other, true);
                }
            }
            _ => {}
        }
    }
}
