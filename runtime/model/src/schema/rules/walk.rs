//! The walk over an object: the rules of a value, then those of its content, in kube-apiserver's order.
use std::collections::HashMap;

use super::{
    outcome::Outcome,
    place::{Place, entry},
    ratchet::{Correlation, Key, Pair, by_keys, keys_of},
    set::RuleSet,
};
use crate::{
    meta::FieldPath,
    schema::{Document, Exceeded, Meter, location::Location},
};

impl RuleSet {
    /// The most that all rules of an object may cost together.
    pub const BUDGET: i64 = 10_000_000;

    /// Evaluates the rules of a document, whose old state is known for an update.
    ///
    /// # Errors
    /// The limit of the meter that was exceeded.
    pub fn evaluate(&self, document: &Document, old: Option<&Document>, meter: &Meter) -> Result<Outcome, Exceeded> {
        let walk = |rules: &Self, budget| rules.walk(&FieldPath::root(), (document, old, true), budget, meter);
        let outcome = walk(self, Self::BUDGET)?;
        match (self.names(), outcome.budget) {
            (Some(names), budget @ 0..) => Ok(outcome.and(walk(names, budget)?)),
            _ => Ok(outcome),
        }
    }

    /// The same for a value that is at a path, within a budget.
    ///
    /// # Errors
    /// The limit of the meter that was exceeded.
    pub fn evaluate_at(
        &self,
        path: &FieldPath,
        document: &Document,
        old: Option<&Document>,
        budget: i64,
        meter: &Meter,
    ) -> Result<Outcome, Exceeded> {
        self.walk(path, (document, old, true), budget, meter)
    }

    /// Evaluates the rules of a default that is at a path, within a budget: as if it took its own place, or that of no value. What is wrong
    /// with it is an error in both cases.
    ///
    /// # Errors
    /// The limit of the meter that was exceeded.
    pub fn evaluate_default(
        &self,
        path: &FieldPath,
        default: &Document,
        takes_own_place: bool,
        budget: i64,
        meter: &Meter,
    ) -> Result<Outcome, Exceeded> {
        self.walk(path, (default, takes_own_place.then_some(default), false), budget, meter)
    }

    /// Evaluates the rules of a document with its old state, and whether what is wrong with unchanged values is a warning.
    pub(super) fn walk(
        &self,
        path: &FieldPath,
        (document, old, ratchets): (&Document, Option<&Document>, bool),
        budget: i64,
        meter: &Meter,
    ) -> Result<Outcome, Exceeded> {
        let (at, is_object) = self.root();
        let (place, old) = (Place::new(at, is_object), old.filter(|old| !old.is_null()));
        let pair = old.filter(|_| ratchets).map(|old| Pair::new(at, document, old));
        let correlation = Correlation { own: pair.as_ref(), around: None };
        let mut evaluation = Evaluation { rules: self, meter, path, outcome: Outcome::new(budget) };
        let root = Visit { place: &place, value: document, old, correlation, location: &Location::Root };
        evaluation.visit(0, root);
        meter.check().map(|()| evaluation.outcome.finish())
    }
}

/// An evaluation in progress.
pub(super) struct Evaluation<'e> {
    rules: &'e RuleSet,
    pub(super) meter: &'e Meter,
    /// The path of the document.
    pub(super) path: &'e FieldPath,
    pub(super) outcome: Outcome,
}

/// A value in the walk.
#[derive(Clone, Copy)]
pub(super) struct Visit<'v, 'd> {
    pub(super) place: &'d Place<'d>,
    pub(super) value: &'d Document,
    /// The old value that is `oldSelf`.
    pub(super) old: Option<&'d Document>,
    pub(super) correlation: Correlation<'v, 'd>,
    pub(super) location: &'v Location<'v>,
}

/// True if further rules are evaluated.
pub(super) type GoesOn = bool;

impl<'e> Evaluation<'e> {
    /// The rules of a value, then those of its content.
    fn visit<'d>(&mut self, index: usize, visit: Visit<'_, 'd>) -> GoesOn
    where
        'e: 'd,
    {
        if visit.value.is_null() {
            return true;
        }
        let rules = self.rules;
        let node = rules.node(index);
        if !self.meter.step(1) || !self.rules_of(node, visit) {
            return false;
        }
        let below = rules.below(node);
        match visit.value {
            Document::Object(fields) => {
                let entries = below.entries.is_none_or(|index| self.entries(index, fields, visit));
                entries
                    && below.fields.iter().all(|(name, index)| match fields.get(name) {
                        Some(value) => self.field(*index, name, value, visit),
                        None => true,
                    })
            }
            Document::Array(items) => below.items.is_none_or(|index| self.items(index, items, visit)),
            _ => true,
        }
    }

    fn field<'d>(&mut self, index: usize, name: &str, value: &'d Document, around: Visit<'_, 'd>) -> GoesOn
    where
        'e: 'd,
    {
        let Some(at) = around.place.at().property(name) else { return true };
        let pair = around.correlation.own.and_then(|pair| pair.field(name));
        let is_type = around.location.is_root() && matches!(name, "apiVersion" | "kind");
        self.visit(
            index,
            Visit {
                place: around.place.child(at),
                value,
                old: around.old.and_then(|old| old.get(name)),
                correlation: if is_type { Correlation::default() } else { around.correlation.below(pair.as_ref()) },
                location: &around.location.field(name),
            },
        )
    }

    fn entries<'d>(
        &mut self,
        index: usize,
        entries: &'d serde_json::Map<String, Document>,
        around: Visit<'_, 'd>,
    ) -> GoesOn
    where
        'e: 'd,
    {
        let Some(at) = entry(around.place.at()) else { return true };
        entries.iter().all(|(key, value)| {
            let pair = around.correlation.own.and_then(|pair| pair.field(key));
            self.visit(
                index,
                Visit {
                    place: around.place.child(at),
                    value,
                    old: around.old.and_then(|old| old.get(key)),
                    correlation: around.correlation.below(pair.as_ref()),
                    location: &around.location.entry(key),
                },
            )
        })
    }

    fn items<'d>(&mut self, index: usize, items: &'d [Document], around: Visit<'_, 'd>) -> GoesOn
    where
        'e: 'd,
    {
        let at = around.place.at();
        let (Some(of_items), keys) = (at.items(), at.keys().unwrap_or_default()) else { return true };
        let old: HashMap<Vec<Key<'d>>, &'d Document> = match (around.old, around.correlation.own) {
            (Some(old), None) if !keys.is_empty() && self.meter.step(keys.len() * items.len()) => by_keys(keys, old),
            _ => HashMap::new(),
        };
        items.iter().enumerate().all(|(number, value)| {
            let pair = around.correlation.own.and_then(|pair| pair.item(value));
            let key = if old.is_empty() { None } else { keys_of(keys, value) };
            let old = pair.as_ref().map(Pair::old).or_else(|| old.get(&key?).copied());
            self.visit(
                index,
                Visit {
                    place: around.place.child(of_items),
                    value,
                    old,
                    correlation: around.correlation.below(pair.as_ref()),
                    location: &around.location.item(number),
                },
            )
        })
    }
}
