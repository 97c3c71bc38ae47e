//! Tests of rules on objects, after the cases of kube-apiserver's own tests.
use std::sync::Arc;

use serde_json::Value;

use super::RuleSet;
use crate::{
    meta::FieldPath,
    schema::{Meter, keywords},
};

mod declaration;
mod messages;
mod ratcheting;
mod reference;
mod values;

/// A definition's schema.
fn rules(schema: &Value, is_object: bool) -> RuleSet {
    let schema = keywords::read(schema).unwrap_or_else(|error| panic!("{error}"));
    RuleSet::of(&Arc::new(schema), is_object).expect("rules")
}

/// The errors of a document, then its warnings.
fn evaluated(rules: &RuleSet, document: &Value, old: Option<&Value>, budget: i64) -> (Vec<String>, i64) {
    let root = FieldPath::new("root");
    let outcome = rules.walk(&root, (document, old, true), budget, &Meter::default()).unwrap();
    let warnings = outcome.warnings.iter().map(|warning| format!("warning: {warning}"));
    (outcome.errors.iter().map(ToString::to_string).chain(warnings).collect(), outcome.budget)
}

fn found(schema: &Value, document: &Value, old: Option<&Value>) -> Vec<String> {
    evaluated(&rules(schema, false), document, old, RuleSet::BUDGET).0
}
