//! Errors: paths, reasons, messages and budgets.
use serde_json::{Value, json};

use super::{evaluated, found, rules};
use crate::schema::rules::{RuleSet, normalized};

#[test]
fn errors_have_the_path_the_reason_and_the_value_that_the_rule_says() {
    let of = |mut rule: Value, more: Value| {
        rule.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({"type": "object", "properties": {
            "f": {"type": "object", "properties": {"m": {"type": "integer"}, "labels": {"type": "object", "additionalProperties": {"type": "string"}}},
                "x-kubernetes-validations": [rule]},
        }})
    };
    let rule = || json!({"rule": " self.m == 2 "});
    for (more, expected) in [
        (json!({}), "root.f: Invalid value: failed rule: self.m == 2"),
        (json!({"message": " two! "}), "root.f: Invalid value: two!"),
        (json!({"reason": "FieldValueForbidden"}), "root.f: Forbidden: failed rule: self.m == 2"),
        (json!({"reason": "FieldValueRequired", "message": "m"}), "root.f: Required value: m"),
        (json!({"reason": "FieldValueDuplicate", "message": "m"}), "root.f: Duplicate value"),
        (
            json!({"reason": "FieldValueInvalid", "fieldPath": ".m"}),
            "root.f.m: Invalid value: failed rule: self.m == 2",
        ),
        (json!({"message": "m", "fieldPath": ".labels['a.b']"}), "root.f.labels[a.b]: Invalid value: m"),
        (json!({"messageExpression": "'m is ' + string(self.m)"}), "root.f: Invalid value: m is 1"),
        (
            json!({"messageExpression": "' a '", "message": "m", "reason": "FieldValueForbidden"}),
            "root.f: Forbidden: a",
        ),
        (json!({"messageExpression": "'a\\nb'", "message": "m"}), "root.f: Invalid value: m"),
        (json!({"messageExpression": "string('  ')", "message": "m"}), "root.f: Invalid value: m"),
        (json!({"messageExpression": "'a' + ['a', 'b'][4]"}), "root.f: Invalid value: failed rule: self.m == 2"),
        (json!({"messageExpression": "true", "message": "m", "fieldPath": ".m"}), "root.f: Invalid value: m"),
        (json!({"messageExpression": format!("'{}'", "a".repeat(5121)), "message": "m"}), "root.f: Invalid value: m"),
    ] {
        assert_eq!(found(&of(rule(), more.clone()), &json!({"f": {"m": 1}}), None), [expected], "{more}");
    }
    assert!(found(&of(rule(), json!({})), &json!({"f": {"m": 2}}), None).is_empty());
}

#[test]
fn values_of_scalars_are_shown_and_errors_are_in_order() {
    let text = |rule: &str| json!({"type": "string", "x-kubernetes-validations": [{"rule": rule}]});
    let schema = json!({"type": "object",
    "x-kubernetes-validations": [{"rule": "self.b == 'x'", "message": "root"}, {"rule": "self.missing == 1"}],
    "properties": {
        "b": {"type": "string", "x-kubernetes-validations": [{"rule": "self == 'y'", "reason": "FieldValueDuplicate"}]},
        "a": text("self == 'x'"),
        "i": {"x-kubernetes-int-or-string": true, "x-kubernetes-validations": [{"rule": "self > 5"}, {"rule": "self.a == 1"}]},
        "list": {"type": "array", "items": text("self == 'x'")},
        "map": {"type": "object", "additionalProperties": text("self == 'x'")},
        "$": text("self == 'x'"),
        "null": {"type": "string", "nullable": true, "x-kubernetes-validations": [{"rule": "false"}]},
    }});
    let document = json!({"$": "d", "a": "a", "b": "b", "i": "5", "list": ["x", "c"], "map": {"k": "m"}, "null": null});
    let expected = [
        "root: Invalid value: root",
        "root: Invalid value: \"object\": rule compile error: compilation failed: ERROR: <input>:1:5: undefined field 'missing'\n | self.missing == 1\n | ....^",
        "root.$: Invalid value: \"d\": failed rule: self == 'x'",
        "root.a: Invalid value: \"a\": failed rule: self == 'x'",
        "root.b: Duplicate value: \"b\"",
        "root.i: Invalid value: \"\": 'no such overload': call arguments did not match a supported operator, function or macro signature for rule: self > 5",
        "root.i: Invalid value: \"\": no such key: a evaluating rule: self.a == 1",
        "root.list[1]: Invalid value: \"c\": failed rule: self == 'x'",
        "root.map[k]: Invalid value: \"m\": failed rule: self == 'x'",
    ];
    assert_eq!(found(&schema, &document, None), expected);
}

#[test]
fn budgets_end_the_evaluation() {
    let one = |rule: Value| json!({"type": "object", "properties": {"str": {"type": "string"}}, "x-kubernetes-validations": [rule, {"rule": "false", "message": "second"}]});
    let ended = "root: Invalid value: \"object\": validation failed due to running out of cost budget, no further validation rules will be run";
    let of_message = "root: Invalid value: \"object\": messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run";
    let failing = |message: &str| json!({"rule": "false", "messageExpression": message, "message": "given"});
    for (rule, budget, expected, left) in [
        (json!({"rule": "true"}), 0, vec![ended], -1),
        (json!({"rule": "self.str == 'a'", "message": "m"}), 1, vec![ended], -1),
        (failing("'string 1' + 'string 2' + 'string 3'"), 1, vec![of_message], -1),
        (
            failing("'str1 ' + self.str"),
            50,
            vec!["root: Invalid value: str1 a string", "root: Invalid value: second"],
            46,
        ),
        (
            failing("'str1 ' + ['a', 'b', 'c', 'd'][4]"),
            50,
            vec!["root: Invalid value: given", "root: Invalid value: second"],
            47,
        ),
        (
            failing("'static string'"),
            300,
            vec!["root: Invalid value: static string", "root: Invalid value: second"],
            300,
        ),
    ] {
        let rules = rules(&one(rule.clone()), false);
        let (errors, rest) = evaluated(&rules, &json!({"str": "a string"}), None, budget);
        assert_eq!((errors, rest), (expected.into_iter().map(str::to_owned).collect(), left), "{rule}");
    }
    let schema = json!({"type": "array", "items": {"type": "integer"}, "x-kubernetes-validations": [
        {"rule": "self.all(x, self.all(y, self.all(z, x + y + z >= 0)))"}, {"rule": "false"}]});
    let list: Value = (0..200).collect();
    let expected = "root: Invalid value: \"array\": 'operation cancelled: actual cost limit exceeded': no further validation rules will be \
                    run due to call cost exceeds limit for rule: self.all(x, self.all(y, self.all(z, x + y + z >= 0)))";
    assert_eq!(found(&schema, &list, None), [expected]);
}

#[test]
fn a_whole_object_has_its_type_and_its_names() {
    let schema = json!({"type": "object", "x-kubernetes-validations": [
        {"rule": "self.metadata.name.size() <= 3", "message": "name"}, {"rule": "self.kind == 'A' && self.apiVersion == 'v1'"},
        {"rule": "has(self.metadata.labels)"}, {"rule": "has(self.metadata.generateName)", "fieldPath": ".metadata.generateName"}],
        "properties": {"spec": {"type": "object"}}});
    let object = json!({"apiVersion": "v1", "kind": "A", "metadata": {"name": "long", "labels": {}}, "spec": {}});
    let expected = [
        "root: Invalid value: name",
        "root: Invalid value: \"object\": rule compile error: compilation failed: ERROR: <input>:1:4: undefined field 'labels'\n | has(self.metadata.labels)\n | ...^",
        "root.metadata.generateName: Invalid value: failed rule: has(self.metadata.generateName)",
    ];
    assert_eq!(evaluated(&rules(&schema, true), &object, Some(&object), RuleSet::BUDGET).0, expected);
}

#[test]
fn field_paths_are_those_of_kubernetes() {
    let schema = crate::schema::keywords::read(&json!({"type": "object", "properties": {
        "a": {"type": "object", "properties": {
            "bbb": {"type": "object", "properties": {"c": {"type": "string"}, "34": {"type": "string"}}},
            "bbb.c": {"type": "object", "properties": {"a": {"type": "string"}}},
            "foo's": {"type": "string"}, "test\u{7}": {"type": "string"},
        }},
        "foo": {"type": "object", "additionalProperties": {"type": "object", "additionalProperties": {"type": "string"}}},
        "any": {"type": "object", "additionalProperties": true},
        "list": {"type": "array", "items": {"type": "object", "properties": {"a": {"type": "string"}}}},
        "white space": {"type": "string"}, "'foo'bar": {"type": "string"},
    }}));
    let schema = schema.unwrap();
    for (path, expected) in [
        (".a", Some("a")),
        ("['\\'foo\\'bar']", Some("'foo'bar")),
        (".\\'foo\\'bar", None),
        (". a", None),
        (".white space", Some("white space")),
        ("['white space']", Some("white space")),
        (".a.bb[b", None),
        (".a['bbb.c']", Some("a.bbb.c")),
        (".a['bbb.c'", None),
        (".", None),
        (".foo.subAdd", Some("foo[subAdd]")),
        (".foo['subAdd']", Some("foo[subAdd]")),
        (".foo.a.b", Some("foo[a][b]")),
        (".any.a.b", None),
        (".a['foo\\'s']", Some("a.foo's")),
        (".a.foo's", Some("a.foo's")),
        (".a['test\\a']", Some("a.test\u{7}")),
        (".a['test\\x']", None),
        (".a.foo", None),
        (".a.bbb[0]", None),
        (".a.bbb.34", Some("a.bbb.34")),
        (".a.bbb['34']", Some("a.bbb.34")),
        (".list", Some("list")),
        (".list[0]", None),
        (".list['a']", None),
        ("a", None),
        (".c", None),
        (".a..b", None),
        (".metadata.name", None),
    ] {
        assert_eq!(normalized((&schema).into(), false, path).as_deref(), expected, "{path}");
    }
    for (path, expected) in [(".metadata.name", Some("metadata.name")), (".metadata.labels", None), (".a", Some("a"))] {
        assert_eq!(normalized((&schema).into(), true, path).as_deref(), expected, "{path}");
    }
}
