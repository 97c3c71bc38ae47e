//! Tests of rules for writes in overlays.
use serde_json::{Value, json};

use super::{GROUP, described, errors, gears};
use crate::kind::Hook;

fn overlay(entry: &Value, parts: &Value) -> Value {
    let mut entry = entry.clone();
    entry["resource"] = format!("gears.{GROUP}").into();
    json!({"apiVersion": "kindsmith/v1", "kind": "Overlay", "messages": {"port": "must be a port"}, "parts": parts,
        "resources": [entry]})
}

fn document() -> Value {
    gears("v1", &json!({"type": "object"}), &json!({}))
}

/// The errors of an entry, without the name of the file.
fn refused(entry: &Value, parts: &Value) -> Vec<String> {
    let found = errors(&[document(), overlay(entry, parts)]);
    found.into_iter().map(|error| error.trim_start_matches("1.json ").to_owned()).collect()
}

#[test]
fn entries_and_parts_become_hooks_of_the_kind() {
    let entry = json!({"include": [{"box": ".spec.boxes[*]"}],
        "defaults": [{"path": ".spec.a", "value": 1}, {"path": ".spec.b", "from": "self.a", "when": "has(self.a)"}],
        "immutable": [{"path": ".spec.c", "reason": "FieldValueInvalid", "message": "field is immutable", "except": [".d"]}],
        "validations": [{"path": ".spec.a", "rule": "self > 0", "reason": "FieldValueInvalid", "message": "@port"},
            {"path": ".spec.list", "unique": [".name"], "reason": "FieldValueDuplicate"}]});
    let parts = json!({"box": {"include": [{"lid": ".lid"}], "defaults": [{"path": ".x", "remove": true}]},
        "lid": {"validations": [{"path": "", "rule": "self.x == part.x", "reason": "FieldValueForbidden"}]}});
    let resource = described(&[document(), overlay(&entry, &parts)]).resources.remove(0);
    let rules = &resource.write_rules["v1"];
    assert_eq!((rules.defaults.len(), rules.immutable.len(), rules.checks.len()), (3, 1, 3));
    assert_eq!((rules.checks[0].part, rules.checks[1].part), (4, 0));
    let kind = resource.kinds().remove(0);
    assert!(kind.binding.hooks.runs(Hook::Defaults) && kind.binding.hooks.runs(Hook::Validation));
    // For one version, and for none.
    let with = |versions: Value| {
        let mut entry = entry.clone();
        entry["versions"] = versions;
        described(&[document(), overlay(&entry, &parts)]).resources.remove(0).write_rules.len()
    };
    assert_eq!((with(json!(["v1"])), with(json!(["v2"]))), (1, 0));
}

#[test]
fn what_is_wrong_in_rules_is_reported_where_it_is() {
    let none = json!({});
    let at = "/resources/0";
    for (entry, pointer, message) in [
        (json!({"defaults": [{"path": "a", "value": 1}]}), "defaults/0/path", "found \"a\"; supported: a path such as"),
        (
            json!({"defaults": [{"path": ".a[*]", "value": 1}]}),
            "defaults/0/path",
            "supported: a path that ends in a field",
        ),
        (json!({"defaults": [{"path": ".a"}]}), "defaults/0", "supported: one of value, from, and remove: true"),
        (json!({"defaults": [{"path": ".a", "value": 1, "from": "2"}]}), "defaults/0", "supported: one of value"),
        (json!({"defaults": [{"path": ".a", "from": "self."}]}), "defaults/0/from", "Syntax error"),
        (
            json!({"defaults": [{"path": ".a", "value": 1, "when": "none"}]}),
            "defaults/0/when",
            "undeclared reference to 'none'",
        ),
        (
            json!({"defaults": [{"path": ".a", "value": 1, "operation": "delete"}]}),
            "defaults/0/operation",
            "found \"delete\"; supported: create, update",
        ),
        (
            json!({"defaults": [{"path": ".a", "value": {}, "merge": "all"}]}),
            "defaults/0/merge",
            "found \"all\"; supported: add, over",
        ),
        (json!({"immutable": [{"path": ".a", "except": ["b"]}]}), "immutable/0/except/0", "found \"b\""),
        (
            json!({"validations": [{"path": ".a", "reason": "Wrong", "rule": "true"}]}),
            "validations/0/reason",
            "found \"Wrong\"; supported: FieldValueDuplicate",
        ),
        (
            json!({"validations": [{"path": ".a", "reason": "FieldValueInvalid"}]}),
            "validations/0",
            "supported: either rule or unique",
        ),
        (
            json!({"validations": [{"path": ".a", "unique": [], "reason": "FieldValueInvalid"}]}),
            "validations/0/unique",
            "supported: a list of paths",
        ),
        (
            json!({"validations": [{"path": ".a", "rule": "true", "reason": "FieldValueInvalid", "message": "@none"}]}),
            "validations/0/message",
            "there is no message \"none\"",
        ),
        (json!({"include": [{"none": ".a"}]}), "include/0/none", "there is no part \"none\""),
    ] {
        let found = refused(&entry, &none);
        let expected = format!("{at}/{pointer}: ");
        assert!(
            found.len() == 1 && found[0].starts_with(&expected) && found[0].contains(message),
            "{entry}: {found:?}"
        );
    }
}

#[test]
fn errors_of_parts_are_reported_once_and_parts_end() {
    let twice = json!({"include": [{"box": ".a"}, {"box": ".b"}]});
    let found = refused(&twice, &json!({"box": {"defaults": [{"path": "x", "value": 1}]}}));
    assert_eq!((found.len(), found[0].split(": ").next()), (1, Some("/parts/box/defaults/0/path")));
    let found = refused(&json!({"include": [{"box": ".a"}]}), &json!({"box": {"include": [{"box": ".b"}]}}));
    assert_eq!(found, ["/parts/box/include/0/box: the part \"box\" includes itself"]);
    let doubled = |of: usize| {
        (format!("p{of}"), json!({"include": [{format!("p{}", of + 1): ".a"}, {format!("p{}", of + 1): ".b"}]}))
    };
    let mut parts: serde_json::Map<String, Value> = (0..40).map(doubled).collect();
    parts.insert("p40".to_owned(), json!({"defaults": [{"path": ".x", "value": 1}]}));
    let found = refused(&json!({"include": [{"p0": ""}, {"p0": ".b"}]}), &parts.into());
    assert!(found[0].ends_with("the resource has more than 20000 rules"), "{found:?}");
}
