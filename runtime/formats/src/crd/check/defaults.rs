//! Checks that defaults are valid, have only fields of their schema, and violate no rules.
use std::sync::Arc;

use serde_json::json;

use super::super::{Findings, Location};
use crate::{
    meta::{FieldError, FieldPath},
    schema::{Document, Meter, Schema, prune, rules::RuleSet, validate},
};

/// Judges the defaults of the structural schema of a kind. Maps have none: what a default is within is there. Their rules are evaluated
/// if the schema's rules are judged.
pub(super) fn check(root: &Schema, judges_rules: bool, location: &Location<'_>, findings: &mut Findings) {
    let budget = judges_rules.then_some(RuleSet::BUDGET);
    Defaults { findings, budget, meter: Meter::default() }.node(root, true, location);
}

/// True if further defaults are checked.
type GoesOn = bool;

struct Defaults<'f> {
    findings: &'f mut Findings,
    /// What the rules of all defaults may still cost.
    budget: Option<i64>,
    meter: Meter,
}

impl Defaults<'_> {
    fn node(&mut self, schema: &Schema, is_object: bool, location: &Location<'_>) -> GoesOn {
        if let Some(default) = &schema.default {
            let at = location.field("default");
            if pruned(schema, default) != *default {
                self.findings.invalid(&at, default.clone(), "must not have unknown fields");
            }
            if self.is_valid(schema, default, &at) && !self.keeps_rules(schema, is_object, default, &at) {
                return false;
            }
        }
        let items = location.field("items");
        let properties = location.field("properties");
        schema.items.as_ref().is_none_or(|schema| self.node(schema, schema.embedded, &items))
            && schema.properties.iter().all(|(name, of)| self.node(of, of.embedded, &properties.key(name)))
    }

    fn is_valid(&mut self, schema: &Schema, default: &Document, at: &Location<'_>) -> bool {
        let errors = match validate(schema, default, &Meter::default()) {
            Ok(errors) => errors,
            Err(exceeded) => {
                self.findings.invalid(at, default.clone(), exceeded.to_string());
                return false;
            }
        };
        for error in &errors {
            let FieldError { path, kind, detail, .. } = error;
            let path = match (at.path(), path.as_str()) {
                (default, "") => default,
                (default, inside) => FieldPath::new(format!("{default}.{inside}")),
            };
            // The default itself has no name in kube-apiserver's words.
            let detail = detail.strip_prefix("the value ").map_or(detail.clone(), |what| format!(" in body {what}"));
            self.findings.error(&Location::known(path.as_str(), &at.pointer()), kind.clone(), detail);
        }
        errors.is_empty()
    }

    /// Evaluates the rules of a default: as if it took its own place, and as if there was no value before.
    fn keeps_rules(&mut self, schema: &Schema, is_object: bool, default: &Document, at: &Location<'_>) -> GoesOn {
        let Some(budget) = self.budget.filter(|_| schema.has_rules()) else { return true };
        let Some(rules) = RuleSet::of(&Arc::new(schema.clone()), is_object) else { return true };
        for takes_own_place in [true, false] {
            let outcome = match rules.evaluate_default(&at.path(), default, takes_own_place, budget, &self.meter) {
                Ok(outcome) => outcome,
                Err(exceeded) => {
                    self.findings.invalid(at, default.clone(), exceeded.to_string());
                    return false;
                }
            };
            self.budget = self.budget.map(|left| left.min(outcome.budget));
            for FieldError { path, kind, detail, .. } in &outcome.errors {
                self.findings.error(&Location::known(path.as_str(), &at.pointer()), kind.clone(), detail);
            }
            if !outcome.errors.is_empty() {
                break;
            }
        }
        self.budget.is_none_or(|left| left >= 0)
    }
}

/// A value without what its schema does not know. Only whole objects can be pruned, so it is put into one.
fn pruned(schema: &Schema, value: &Document) -> Document {
    let mut around = json!({"value": value});
    let root = Schema {
        kind: crate::schema::model::Type::Object,
        properties: [("value".to_owned(), schema.clone())].into(),
        ..Schema::default()
    };
    prune(&root, &mut around);
    around["value"].take()
}
