//! `allOf`, `anyOf`, `oneOf` and `not`: validity of values, and messages of kube-openapi's validator.
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::schema::{
    Document, Meter, default,
    fixture::{object, schema, widget},
    prune, validate, validate_change,
};

/// The errors of one field `f` of a schema.
fn errors_of(from: &Value, value: &Value) -> Vec<String> {
    let root = schema(&json!({"type": "object", "properties": {"f": from}}));
    validate(&root, &json!({"f": value}), &Meter::default()).unwrap().iter().map(ToString::to_string).collect()
}

#[test]
fn values_of_each_type_and_their_messages() {
    let none: [&str; 0] = [];
    let any_of = r#"<nil>: Invalid value: "": "f" must validate at least one schema (anyOf)"#;
    let not = r#"<nil>: Invalid value: "": "f" must not validate the schema (not)"#;
    for (rule, value, expected) in [
        (json!({"type": "integer", "anyOf": [{"minimum": 5}, {"maximum": 0}]}), json!(0), &none[..]),
        (
            json!({"type": "integer", "anyOf": [{"minimum": 5}, {"maximum": 0}]}),
            json!(3),
            &[any_of, "f: Invalid value: 3: f in body should be greater than or equal to 5"],
        ),
        (
            json!({"type": "string", "oneOf": [{"minLength": 3}, {"pattern": "^a"}]}),
            json!("b"),
            &[
                r#"<nil>: Invalid value: "": "f" must validate one and only one schema (oneOf). Found none valid"#,
                r#"f: Invalid value: "b": f in body should be at least 3 chars long"#,
            ],
        ),
        (
            json!({"type": "string", "oneOf": [{"minLength": 3}, {"pattern": "^a"}, {"enum": ["abc"]}, {"enum": ["b"]}]}),
            json!("abc"),
            &[
                r#"<nil>: Invalid value: "": "f" must validate one and only one schema (oneOf). Found 3 valid alternatives"#,
            ],
        ),
        (json!({"type": "string", "oneOf": [{"minLength": 3}, {"pattern": "^a"}]}), json!("a"), &none),
        (
            json!({"type": "string", "allOf": [{"minLength": 3}, {"pattern": "^a"}]}),
            json!("b"),
            &[
                r#"f: Invalid value: "b": f in body should be at least 3 chars long"#,
                r#"f: Invalid value: "b": f in body should match '^a'"#,
                r#"<nil>: Invalid value: "": "f" must validate all the schemas (allOf). None validated"#,
            ],
        ),
        (
            json!({"type": "string", "allOf": [{"minLength": 3}, {"pattern": "^b"}]}),
            json!("b"),
            &[
                r#"f: Invalid value: "b": f in body should be at least 3 chars long"#,
                r#"<nil>: Invalid value: "": "f" must validate all the schemas (allOf)"#,
            ],
        ),
        (json!({"type": "string", "not": {"enum": ["a", "b"]}}), json!("b"), &[not]),
        (json!({"type": "string", "not": {"enum": ["a", "b"]}}), json!("c"), &none),
        (
            json!({"type": "array", "items": {"type": "integer"}, "anyOf": [{"items": {"minimum": 2}}, {"maxItems": 1}]}),
            json!([1, 3]),
            &[any_of, "f[0]: Invalid value: 1: f[0] in body should be greater than or equal to 2"],
        ),
        (
            json!({"type": "array", "items": {"type": "string"}, "not": {"items": {"enum": ["x"]}}}),
            json!(["x", "x"]),
            &[not],
        ),
    ] {
        assert_eq!(errors_of(&rule, &value), expected, "{rule} {value}");
    }
}

#[test]
fn the_branch_with_the_most_checks_reports_its_errors() {
    let fields = json!({"a": {"type": "integer"}, "b": {"type": "integer"}});
    let deep = json!([{"required": ["a"]}, {"required": ["b"], "properties": {"b": {"minimum": 5}}}]);
    let required = json!([{"required": ["a"]}, {"required": ["b"]}]);
    let any_of = r#"<nil>: Invalid value: "": "f" must validate at least one schema (anyOf)"#;
    let one_of = r#"<nil>: Invalid value: "": "f" must validate one and only one schema (oneOf). Found none valid"#;
    for (keyword, branches, value, expected) in [
        ("anyOf", &required, json!({}), [any_of, "f.a: Required value"]),
        ("oneOf", &required, json!({}), [one_of, "f.a: Required value"]),
        ("anyOf", &deep, json!({}), [any_of, "f.a: Required value"]),
        (
            "anyOf",
            &deep,
            json!({"b": 2}),
            [any_of, "f.b: Invalid value: 2: f.b in body should be greater than or equal to 5"],
        ),
        (
            "oneOf",
            &deep,
            json!({"b": 2}),
            [one_of, "f.b: Invalid value: 2: f.b in body should be greater than or equal to 5"],
        ),
    ] {
        let rule = json!({"type": "object", "properties": fields, keyword: branches});
        assert_eq!(errors_of(&rule, &value), expected, "{rule} {value}");
    }
}

#[test]
fn formats_and_types_beside_junctors() {
    let any_of = r#"<nil>: Invalid value: "": "f" must validate at least one schema (anyOf)"#;
    let not = r#"<nil>: Invalid value: "": "f" must not validate the schema (not)"#;
    let none: [&str; 0] = [];
    let date = json!({"x-kubernetes-preserve-unknown-fields": true, "anyOf": [{"format": "date"}]});
    for (rule, value, expected) in [
        (&date, json!("2026-01-02"), &none[..]),
        (&date, json!([]), &none),
        (&date, json!("x"), &[any_of, r#"f: Invalid value: "x": f in body must be of type date: "x""#]),
        (&date, json!(7), &[any_of, r#"f: Invalid value: "int64": f in body must be of type date: "int64""#]),
        (&date, json!(true), &[any_of, r#"f: Invalid value: "": f in body must be of type date: """#]),
        (
            &json!({"type": "string", "anyOf": [{"minLength": 3}], "not": {"maxLength": 3}}),
            json!(7),
            &[r#"f: Invalid value: "integer": f in body must be of type string: "integer""#, not],
        ),
        (&json!({"type": "string", "nullable": true, "not": {}}), Value::Null, &none),
        (
            &json!({"type": "string", "not": {}}),
            Value::Null,
            &[r#"f: Invalid value: "null": f in body must be of type string: "null""#],
        ),
    ] {
        assert_eq!(errors_of(rule, &value), expected, "{rule} {value}");
    }
}

#[test]
fn junctors_nest_and_the_same_error_is_reported_once() {
    let at_least = "f: Invalid value: 3: f in body should be greater than or equal to 5";
    let all_of = r#"<nil>: Invalid value: "": "f" must validate all the schemas (allOf). None validated"#;
    let twice = json!({"type": "integer", "minimum": 5, "allOf": [{"minimum": 5}]});
    assert_eq!(errors_of(&twice, &json!(3)), [at_least, all_of]);
    let nested = json!({"type": "integer", "allOf": [
        {"anyOf": [{"minimum": 5}, {"maximum": 1}]}, {"not": {"enum": [3]}}, {"minimum": 5}]});
    let any_of = r#"<nil>: Invalid value: "": "f" must validate at least one schema (anyOf)"#;
    let not = r#"<nil>: Invalid value: "": "f" must not validate the schema (not)"#;
    assert_eq!(errors_of(&nested, &json!(3)), [any_of, at_least, not, all_of]);
    let root = schema(&json!({"type": "object", "properties": {"a": {}}, "not": {"required": ["a"]}}));
    let errors: Vec<_> =
        validate(&root, &json!({"a": 1}), &Meter::default()).unwrap().iter().map(ToString::to_string).collect();
    assert_eq!(errors, [r#"<nil>: Invalid value: "": "" must not validate the schema (not)"#]);
}

#[test]
fn a_branch_is_walked_once_however_deep_it_lies() {
    let keywords = ["anyOf", "oneOf", "allOf"];
    let (mut rule, mut value) = (json!({"enum": ["other"]}), json!("x"));
    for depth in 0..45 {
        rule = match keywords.get(depth % 4) {
            Some(keyword) => json!({"properties": {"a": {*keyword: [rule]}}}),
            None => json!({"not": {"not": rule}}),
        };
        if depth % 4 < keywords.len() {
            value = json!({"a": value});
        }
    }
    let rule = json!({"x-kubernetes-preserve-unknown-fields": true, "anyOf": [rule]});
    assert!(!errors_of(&rule, &value).is_empty());
}

#[test]
fn branches_neither_declare_nor_fill_in_fields() {
    let from = json!({"type": "object", "properties": {"a": {"type": "string"}},
        "anyOf": [{"properties": {"a": {"default": "x"}, "b": {"default": "x"}}}]});
    let mut document = json!({"b": 1});
    default(&schema(&from), &mut document, &Meter::default()).unwrap();
    assert_eq!(document, json!({"b": 1}));
    prune(&schema(&from), &mut document);
    assert_eq!(document, json!({}));
}

#[test]
fn junctors_are_checked_if_their_value_changes() {
    let from = json!({"type": "object", "properties": {
        "spec": {"type": "object", "properties": {
            "size": {"type": "integer", "anyOf": [{"minimum": 5}]},
            "limits": {"type": "object", "properties": {"low": {"type": "integer"}, "high": {"type": "integer"}},
                "allOf": [{"properties": {"low": {"minimum": 5}}}], "not": {"required": ["low", "high"]}},
            "ports": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
                "items": {"type": "object", "oneOf": [{"required": ["a"]}, {"required": ["b"]}],
                    "properties": {"name": {"type": "string"}, "a": {"type": "integer"}, "b": {"type": "integer"}}}},
            "atomic": {"type": "array", "items": {"type": "integer", "not": {"maximum": 0}}}}},
        "status": {"type": "object", "properties": {"phase": {"type": "string"}}}},
        "anyOf": [{"properties": {"status": {"properties": {"phase": {"enum": ["Ready"]}}}}}]});
    let old = json!({"metadata": {"name": "a"},
        "spec": {"size": 1, "limits": {"low": 1, "high": 1}, "ports": [{"name": "x"}, {"name": "y"}], "atomic": [0]},
        "status": {"phase": "Lost"}});
    let found = |change: &dyn Fn(&mut Document)| -> Vec<String> {
        let mut new = old.clone();
        change(&mut new);
        let schema = schema(&from);
        let errors = validate_change(
            &schema,
            validate(&schema, &new, &Meter::default()).unwrap(),
            &new,
            &old,
            &Meter::default(),
        )
        .unwrap();
        errors
            .iter()
            .map(|error| if error.path.as_str().is_empty() { error.detail.clone() } else { error.path.to_string() })
            .collect()
    };
    let none: [&str; 0] = [];
    let root = [r#""" must validate at least one schema (anyOf)"#, "status.phase"];
    assert_eq!(found(&|_| {}), none);
    assert_eq!(found(&|new| new["metadata"]["labels"] = json!({"a": "b"})), none);
    assert_eq!(
        found(&|new| new["status"]["phase"] = json!("Gone")),
        root,
        "the object's own junctor is about its status"
    );
    assert_eq!(found(&|new| new["status"]["phase"] = json!("Ready")), none);
    let in_spec = |change: &dyn Fn(&mut Document)| {
        let mut errors = found(&|new| change(&mut new["spec"]));
        assert_eq!(errors.drain(..2).collect::<Vec<_>>(), root, "the object is not as it was");
        errors
    };
    let any_of = r#""spec.size" must validate at least one schema (anyOf)"#;
    assert_eq!(in_spec(&|spec| spec["size"] = json!(2)), [any_of, "spec.size"]);
    assert_eq!(in_spec(&|spec| spec["size"] = json!(5)), none);
    // The branch for `low` is checked although its value is unchanged.
    let all_of = r#""spec.limits" must validate all the schemas (allOf). None validated"#;
    let not = r#""spec.limits" must not validate the schema (not)"#;
    assert_eq!(in_spec(&|spec| spec["limits"]["high"] = json!(2)), ["spec.limits.low", all_of, not]);
    let one_of = |path: &str| format!("{path:?} must validate one and only one schema (oneOf). Found none valid");
    assert_eq!(in_spec(&|spec| spec["ports"] = json!([{"name": "y"}])), none, "the item is matched by its key");
    assert_eq!(
        in_spec(&|spec| spec["ports"] = json!([{"name": "z"}, {"name": "y"}])),
        [one_of("spec.ports[0]"), "spec.ports[0].a".to_owned()]
    );
    let not = |path: &str| format!("{path:?} must not validate the schema (not)");
    assert_eq!(in_spec(&|spec| spec["atomic"] = json!([0, 1])), [not("spec.atomic[0]")], "items have no identity");
}

/// A few overlapping rules, as a branch or as a schema.
fn rules() -> impl Strategy<Value = Value> {
    let leaf = prop::sample::select(vec![
        json!({}),
        json!({"minimum": 2}),
        json!({"maximum": 3}),
        json!({"enum": [1, 2, "a"]}),
        json!({"maxLength": 1}),
        json!({"format": "date"}),
        json!({"required": ["a"]}),
        json!({"properties": {"a": {"minimum": 2}, "b": {"maxLength": 1}}}),
        json!({"items": {"minimum": 2}, "minItems": 1}),
        json!({"maxProperties": 1}),
    ]);
    leaf.prop_recursive(3, 12, 3, |inner| {
        let branches = prop::collection::vec(inner.clone(), 1..4);
        prop_oneof![
            (prop::sample::select(vec!["allOf", "anyOf", "oneOf"]), branches).prop_map(|(key, b)| json!({key: b})),
            inner.clone().prop_map(|branch| json!({"not": branch})),
            inner.prop_map(|branch| json!({"properties": {"a": branch}})),
        ]
    })
}

fn values() -> impl Strategy<Value = Value> {
    let leaf =
        prop::sample::select(vec![json!(1), json!(2), json!(4), json!("a"), json!("ab"), json!(true), Value::Null]);
    leaf.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map("[ab]", inner, 0..3)
                .prop_map(|fields| Value::Object(fields.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

proptest! {
    #[test]
    fn each_junctor_is_what_its_branches_make_it(branches in prop::collection::vec(rules(), 1..4), value in values()) {
        let fits = |rule: &Value| validate(&schema(rule), &value, &Meter::default()).unwrap().is_empty();
        // Only the type decides about `null`.
        prop_assume!(!value.is_null());
        let fitting = branches.iter().filter(|branch| fits(branch)).count();
        prop_assert_eq!(fits(&json!({"allOf": branches})), fitting == branches.len());
        prop_assert_eq!(fits(&json!({"anyOf": branches})), fitting > 0);
        prop_assert_eq!(fits(&json!({"oneOf": branches})), fitting == 1);
        prop_assert_eq!(fits(&json!({"not": branches[0]})), !fits(&branches[0]));
        let all = json!({"allOf": branches, "anyOf": branches, "oneOf": branches, "not": {"not": branches[0]}});
        prop_assert_eq!(fits(&all), fitting == 1 && branches.len() == 1);
    }

    #[test]
    fn junctors_that_always_hold_change_nothing(spec in values()) {
        let plain = widget();
        let always = json!({"allOf": [{}, {}], "anyOf": [{"maxItems": 0}, {}], "oneOf": [{}, {"not": {}}], "not": {"not": {}}});
        let held = crate::schema::Schema { junctors: schema(&always).junctors, ..widget() };
        prop_assert_eq!(validate(&held, &object(&spec), &Meter::default()).unwrap(), validate(&plain, &object(&spec), &Meter::default()).unwrap());
    }
}
