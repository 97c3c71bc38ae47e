//! Tests of the errors in declared rules.
use serde_json::json;

use crate::schema::{fixture::schema, rules::rule_problems};

/// The problems of a kind with a spec.
fn problems(spec: &serde_json::Value) -> Vec<String> {
    let problems = rule_problems(&schema(&json!({"type": "object", "properties": {"spec": spec}})));
    problems.iter().map(ToString::to_string).collect()
}

fn rule(text: &str) -> serde_json::Value {
    json!([{"rule": text}])
}

#[test]
fn sound_rules_are_no_problem() {
    let bounded = json!({"type": "array", "maxItems": 10, "items": {"type": "string", "maxLength": 20},
        "x-kubernetes-validations": rule("self.all(a, self.all(b, a == b))")});
    assert_eq!(problems(&json!({"type": "object", "properties": {"names": bounded}})), [""; 0]);
}

#[test]
fn a_wrong_name_is_shown_at_its_place() {
    let spec = json!({"type": "object", "properties": {"a": {"type": "integer"}}, "x-kubernetes-validations": rule("self.b > 1")});
    let expected = "spec: the rule \"self.b > 1\": compilation failed: ERROR: <input>:1:5: undefined field 'b'\n | self.b > 1\n | ....^";
    assert_eq!(problems(&spec), [expected]);
}

#[test]
fn missing_bounds_of_a_costly_rule_are_named() {
    let names = json!({"type": "array", "items": {"type": "string"}, "x-kubernetes-validations": rule("self.all(a, self.all(b, a == b))")});
    let found = problems(&json!({"type": "object", "properties": {"names": names}}));
    assert_eq!(found.len(), 2, "{found:#?}");
    assert!(found[0].starts_with("spec.names: the rule"), "{found:#?}");
    assert!(found[0].ends_with("add `max_items` on spec.names, `max_length` on spec.names.[]"), "{found:#?}");
    assert!(found[1].starts_with("all rules together may cost "), "{found:#?}");
}

#[test]
fn bounds_around_a_rule_count() {
    let each =
        json!({"type": "string", "maxLength": 5000, "x-kubernetes-validations": rule("self.matches('^(a|b)+$')")});
    let found = problems(&json!({"type": "object", "properties": {"names": {"type": "array", "items": each}}}));
    assert_eq!(found.len(), 2, "{found:#?}");
    assert!(found[0].ends_with("add `max_items` on spec.names"), "{found:#?}");
}

#[test]
fn transitions_need_identity() {
    let each = json!({"type": "string", "x-kubernetes-validations": rule("self == oldSelf")});
    let found =
        problems(&json!({"type": "object", "properties": {"names": {"type": "array", "maxItems": 5, "items": each}}}));
    assert_eq!(found.len(), 1, "{found:#?}");
    assert!(found[0].contains("items of spec.names have no identity: declare `list = map(key = …)`"), "{found:#?}");
}

#[test]
fn what_belongs_to_a_rule_is_checked() {
    let rules = json!([{"rule": "self.a > 1", "fieldPath": ".b"}, {"rule": "self.a > 2", "optionalOldSelf": true},
        {"rule": "self.a > 3", "messageExpression": "self.a"}]);
    let found = problems(
        &json!({"type": "object", "properties": {"a": {"type": "integer"}}, "x-kubernetes-validations": rules}),
    );
    let expected = [
        "the schema has no field \".b\" at its place",
        "does not refer to oldSelf",
        "messageExpression must evaluate to a string",
    ];
    assert_eq!(found.len(), 3, "{found:#?}");
    for (found, expected) in found.iter().zip(expected) {
        assert!(found.contains(expected), "{found}");
    }
}
