//! The rules of kube-apiserver's own tests (apiextensions-apiserver 0.36): what they cost, what their estimates are, which hold, and with
//! which texts others fail.
use std::{fmt::Write as _, sync::Arc};

use serde_json::{Value, json};

use super::{RuleSet, evaluated, rules};
use crate::schema::{keywords, rules::compile::programs};

/// Records of a kind.
fn records(kind: &str) -> impl Iterator<Item = Value> {
    let lines = include_str!("reference.ndjson").lines();
    lines.map(|line| serde_json::from_str::<Value>(line).unwrap()).filter(move |record| record["kind"] == kind)
}

fn with_rule(schema: &Value, rule: &str) -> Value {
    let mut schema = schema.clone();
    schema["x-kubernetes-validations"] = json!([{"rule": rule}]);
    schema
}

#[test]
fn rules_cost_as_much() {
    let mut problems = String::new();
    for record in records("costs") {
        for (rule, cost) in record["costs"].as_object().unwrap() {
            let rules = rules(&with_rule(&record["schema"], rule), true);
            let (errors, left) = evaluated(&rules, &record["object"], None, RuleSet::BUDGET);
            let own = RuleSet::BUDGET - left;
            if !errors.is_empty() || Some(own) != cost.as_i64() {
                writeln!(problems, "{}: {rule}: {own}, not {cost}: {errors:?}", record["name"]).unwrap();
            }
        }
    }
    assert!(problems.is_empty(), "{problems}");
}

#[test]
fn estimates_are_the_same() {
    let mut problems = String::new();
    for record in records("estimates") {
        for (rule, cost) in record["costs"].as_object().unwrap() {
            let schema = Arc::new(keywords::read(&with_rule(&record["schema"], rule)).unwrap());
            let rules = RuleSet::of(&schema, false).unwrap();
            let (at, is_object) = rules.root();
            let own = programs(at, is_object).unwrap()[0].cost;
            if Some(own) != cost.as_u64() {
                writeln!(problems, "{}: {rule}: {own}, not {cost}", record["name"]).unwrap();
            }
        }
    }
    assert!(problems.is_empty(), "{problems}");
}

#[test]
fn rules_hold_and_fail_the_same() {
    let mut problems = String::new();
    for record in records("rules") {
        let (name, old) = (&record["name"], record.get("oldObject"));
        let budget = record["budget"].as_i64().unwrap_or(RuleSet::BUDGET);
        let is_object = record["root"].as_bool().unwrap_or_default();
        for rule in record["valid"].as_array().into_iter().flatten() {
            let rules = rules(&with_rule(&record["schema"], rule.as_str().unwrap()), is_object);
            let (errors, left) = evaluated(&rules, &record["object"], old, budget);
            let cost = if record["skipped"] == true { Some(0) } else { record["cost"].as_i64() };
            if !errors.is_empty() || cost.is_some_and(|cost| budget - left != cost) {
                writeln!(problems, "{name}: {rule}: {errors:?}, costs {}", budget - left).unwrap();
            }
        }
        for (rule, text) in record["errors"].as_object().into_iter().flatten() {
            let rules = rules(&with_rule(&record["schema"], rule), true);
            let (errors, _) = evaluated(&rules, &record["object"], old, budget);
            let text = text.as_str().unwrap();
            if errors.is_empty() || errors.iter().any(|error| !error.contains(text)) {
                writeln!(problems, "{name}: {rule}: {errors:?}, not {text}").unwrap();
            }
        }
    }
    assert!(problems.is_empty(), "{problems}");
}
