//! Old values: ratcheting, transition rules, and `optionalOldSelf`.
#![expect(clippy::needless_pass_by_value, reason = "schemas are written where they are used")]

use serde_json::{Value, json};

use super::{evaluated, found, rules};
use crate::schema::rules::RuleSet;

/// A text that has to be `baz`.
fn baz() -> Value {
    json!({"type": "string", "x-kubernetes-validations": [{"rule": "self == 'baz'", "message": "gotta be baz"}]})
}

fn object(properties: Value) -> Value {
    json!({"type": "object", "properties": properties})
}

fn list(of: &str, items: Value) -> Value {
    json!({"type": "array", "x-kubernetes-list-type": of, "items": items})
}

fn keyed(items: Value) -> Value {
    let mut list = list("map", items);
    list["x-kubernetes-list-map-keys"] = json!(["key"]);
    list
}

#[test]
fn violations_by_unchanged_values_are_warnings() {
    let items = || object(json!({"bar": baz()}));
    let values = || object(json!({"key": {"type": "string"}, "value": baz()}));
    let odd = json!({"type": "number", "x-kubernetes-validations": [{"rule": "int(self) % 2 == 1", "message": "gotta be odd"}]});
    let a = |value: &str| json!({"key": "a", "value": value});
    let b = |value: &str| json!({"key": "b", "value": value});
    let open = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true, "properties": {"bar": baz()},
        "x-kubernetes-validations": [{"rule": "false", "message": "open"}]});
    let (warned, failed) = (
        "warning: root.f[0].bar: Invalid value: \"bar\": gotta be baz",
        "root.f[0].bar: Invalid value: \"bar\": gotta be baz",
    );
    for (field, old, new, expected) in [
        (baz(), json!("x"), json!("x"), vec!["warning: root.f: Invalid value: \"x\": gotta be baz"]),
        (baz(), json!("x"), json!("y"), vec!["root.f: Invalid value: \"y\": gotta be baz"]),
        (baz(), json!(null), json!("y"), vec!["root.f: Invalid value: \"y\": gotta be baz"]),
        (list("atomic", items()), json!([{"bar": "bar"}]), json!([{"bar": "bar"}]), vec![warned]),
        (list("atomic", items()), json!([{"bar": "bar"}]), json!([{"bar": "bar"}, {"bar": "baz"}]), vec![failed]),
        (
            list("set", odd.clone()),
            json!([1, 2]),
            json!([1, 2]),
            vec!["warning: root.f[1]: Invalid value: 2: gotta be odd"],
        ),
        (list("set", odd), json!([1, 2]), json!([2, 1]), vec!["root.f[0]: Invalid value: 2: gotta be odd"]),
        (
            keyed(values()),
            json!([a("x"), b("y")]),
            json!([b("y"), {"key": "c", "value": "baz"}, a("z")]),
            vec![
                "root.f[2].value: Invalid value: \"z\": gotta be baz",
                "warning: root.f[0].value: Invalid value: \"y\": gotta be baz",
            ],
        ),
        (
            json!({"type": "object", "additionalProperties": baz()}),
            json!({"a": "x", "b": "y"}),
            json!({"a": "x", "b": "z"}),
            vec![
                "root.f[b]: Invalid value: \"z\": gotta be baz",
                "warning: root.f[a]: Invalid value: \"x\": gotta be baz",
            ],
        ),
        // An object with an undeclared field counts as changed; its declared fields do not.
        (
            open.clone(),
            json!({"bar": "x", "other": 1}),
            json!({"bar": "x", "other": 1}),
            vec!["root.f: Invalid value: open", "warning: root.f.bar: Invalid value: \"x\": gotta be baz"],
        ),
        (open, json!({"bar": "baz"}), json!({"bar": "baz"}), vec!["warning: root.f: Invalid value: open"]),
    ] {
        let schema = object(json!({"f": field, "other": {"type": "string"}}));
        let [old, new] = [(old, "a"), (new, "b")].map(|(f, other)| json!({"f": f, "other": other}));
        assert_eq!(found(&schema, &new, Some(&old)), expected, "{schema} {old} {new}");
    }
}

#[test]
fn transition_rules_fields_of_types_and_rules_that_fail_are_not_ratcheted() {
    let text = |rule: &str| json!({"type": "string", "x-kubernetes-validations": [{"rule": rule}]});
    let types = || json!({"apiVersion": text("self == 'v1'"), "kind": text("self == 'Pod'")});
    for (schema, value, expected) in [
        (
            object(json!({"f": text("oldSelf != 'bar' && self == 'baz'")})),
            json!({"f": "bar"}),
            vec!["root.f: Invalid value: \"bar\": failed rule: oldSelf != 'bar' && self == 'baz'"],
        ),
        (
            text("unknown"),
            json!("a"),
            vec![
                "root: Invalid value: \"string\": rule compile error: compilation failed: ERROR: <input>:1:1: undeclared reference to 'unknown' (in container '')\n | unknown\n | ^",
            ],
        ),
        (
            text("[self][1] == 'a'"),
            json!("a"),
            vec!["root: Invalid value: \"string\": index out of bounds: 1 evaluating rule: [self][1] == 'a'"],
        ),
        (
            object(types()),
            json!({"apiVersion": "v2", "kind": "Baz"}),
            vec![
                "root.apiVersion: Invalid value: \"v2\": failed rule: self == 'v1'",
                "root.kind: Invalid value: \"Baz\": failed rule: self == 'Pod'",
            ],
        ),
        (
            object(json!({"f": object(types())})),
            json!({"f": {"apiVersion": "v2", "kind": "Baz"}}),
            vec![
                "warning: root.f.apiVersion: Invalid value: \"v2\": failed rule: self == 'v1'",
                "warning: root.f.kind: Invalid value: \"Baz\": failed rule: self == 'Pod'",
            ],
        ),
    ] {
        assert_eq!(found(&schema, &value, Some(&value)), expected, "{schema}");
    }
    let over = "root: Invalid value: \"string\": validation failed due to running out of cost budget, no further validation rules will be run";
    let rules = rules(&baz(), false);
    assert_eq!(evaluated(&rules, &json!("unchanged"), Some(&json!("unchanged")), 1).0, [over]);
}

#[test]
fn old_self_is_the_counterpart_of_the_value() {
    let grows =
        || json!({"type": "integer", "x-kubernetes-validations": [{"rule": "self > oldSelf", "message": "must grow"}]});
    let item = object(json!({"key": {"type": "string"}, "n": grows()}));
    for (field, old, new, expected) in [
        (grows(), json!(1), json!(2), vec![]),
        (grows(), json!(2), json!(2), vec!["root.f: Invalid value: 2: must grow"]),
        (grows(), json!(null), json!(2), vec![]),
        (
            keyed(item),
            json!([{"key": "a", "n": 5}, {"key": "b", "n": 1}]),
            json!([{"key": "b", "n": 2}, {"key": "a", "n": 3}, {"key": "c", "n": 0}]),
            vec!["root.f[1].n: Invalid value: 3: must grow"],
        ),
        (
            json!({"type": "object", "additionalProperties": grows()}),
            json!({"a": 5}),
            json!({"a": 5, "b": 1}),
            vec!["root.f[a]: Invalid value: 5: must grow"],
        ),
    ] {
        let schema = object(json!({"f": field}));
        assert_eq!(found(&schema, &json!({"f": new}), Some(&json!({"f": old}))), expected, "{schema}");
        assert!(found(&schema, &json!({"f": new}), None).is_empty(), "there is no old object");
    }
}

#[test]
fn optional_old_values() {
    let of = |kind: &str, rule: &str| {
        json!({"type": kind, "properties": {"foo": {"type": "string"}},
        "x-kubernetes-validations": [{"rule": rule, "optionalOldSelf": true, "messageExpression": "string(oldSelf.hasValue())"}]})
    };
    let grows = "self >= 10 || (oldSelf.hasValue() && oldSelf.value() <= self)";
    let foo = |value: &str| json!({"foo": value});
    for (kind, rule, old, new, holds) in [
        ("integer", grows, None, json!(10), true),
        ("integer", grows, None, json!(9), false),
        ("integer", grows, Some(json!(5)), json!(10), true),
        ("integer", grows, Some(json!(5)), json!(9), true),
        ("integer", grows, Some(json!(5)), json!(5), true),
        ("integer", grows, Some(json!(5)), json!(4), false),
        ("object", "self.foo == 'valid' || !oldSelf.hasValue()", None, foo("a"), true),
        ("object", "self.foo == 'valid' || !oldSelf.hasValue()", Some(foo("b")), foo("a"), false),
        ("object", "self.foo == 'valid' || oldSelf.foo.orValue('') != 'valid'", Some(foo("b")), foo("a"), true),
        (
            "object",
            "self.foo == 'valid' || (oldSelf.hasValue() && oldSelf.value().foo != 'valid')",
            Some(foo("valid")),
            foo("a"),
            false,
        ),
    ] {
        let found = found(&of(kind, rule), &new, old.as_ref());
        assert_eq!(found.is_empty(), holds, "{rule} {old:?} {new}: {found:?}");
        // The message sees the plain old value, so that an expression for the optional one fails.
        assert!(found.iter().all(|error| error.ends_with(&format!("failed rule: {rule}"))), "{found:?}");
    }
}

#[test]
fn rules_of_a_whole_object_are_never_ratcheted() {
    let schema = json!({"type": "object", "x-kubernetes-validations": [{"rule": "false", "message": "no"}],
        "properties": {"spec": object(json!({"f": baz()}))}});
    let object = json!({"apiVersion": "v1", "kind": "A", "metadata": {"name": "a"}, "spec": {"f": "x"}});
    let expected = ["root: Invalid value: no", "warning: root.spec.f: Invalid value: \"x\": gotta be baz"];
    assert_eq!(evaluated(&rules(&schema, true), &object, Some(&object), RuleSet::BUDGET).0, expected);
}
