//! Tests of rules on objects, after the cases of kube-apiserver's own tests.
use std::sync::Arc;

use serde_json::{Value, json};

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

#[test]
fn the_work_of_the_most_that_rules_may_cost_is_within_that_of_a_request() {
    let all = |text: &str| {
        json!({"type": "array", "items": {"type": text}, "x-kubernetes-validations": [
        {"rule": "self.all(x, self.all(y, x == y || true))"}, {"rule": "self.exists(x, self.all(y, y != x)) || true"}]})
    };
    for (schema, document) in [
        (all("integer"), (0..300).collect::<Value>()),
        (all("string"), (0..300).map(|number| format!("text {number}")).collect::<Value>()),
    ] {
        let (rules, meter) = (rules(&schema, false), Meter::default());
        let outcome = rules.evaluate(&document, None, &meter).expect("less work than a request may take");
        let cost = usize::try_from(RuleSet::BUDGET - outcome.budget).unwrap();
        let most = usize::try_from(RuleSet::BUDGET).unwrap();
        assert!(
            outcome.errors.is_empty() && meter.taken() * (most / cost) < Meter::STEPS / 2,
            "{cost} {}",
            meter.taken()
        );
    }
}

#[test]
fn deep_objects_fit_on_a_small_stack() {
    let node = json!({"type": "object", "properties": {"below": {"type": "object"}}, "x-kubernetes-validations": [{"rule": "self == self", "message": "m"}]});
    let mut schema = node.clone();
    for _ in 0..190 {
        let mut above = node.clone();
        above["properties"]["below"] = schema;
        schema = above;
    }
    let document = (0..250).fold(json!({}), |below, _| json!({"below": below}));
    let run = move || {
        let rules = rules(&schema, false);
        let found = evaluated(&rules, &document, Some(&document), RuleSet::BUDGET).0;
        assert!(found.is_empty(), "{found:?}");
    };
    std::thread::Builder::new().stack_size(2 << 20).spawn(run).unwrap().join().unwrap();
}
