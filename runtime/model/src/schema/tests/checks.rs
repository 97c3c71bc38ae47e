//! The consistency of schemas.
use serde_json::{Value, json};

use crate::schema::{
    check::{contradictions, optional_keys},
    fixture::{schema, widget},
};

fn problems(property: &Value) -> Vec<String> {
    let from = json!({"type": "object", "properties": {"f": property}});
    schema(&from).check().expect_err("a wrong schema")
}

#[test]
fn the_kit_s_widget_is_consistent() {
    assert_eq!(widget().check(), Ok(()));
}

#[test]
fn each_problem_is_named_with_its_place() {
    for (property, expected) in [
        (json!({"type": "array"}), "f: a list declares its items"),
        (
            json!({"type": "integer", "minimum": 1, "default": 0}),
            "f: the default 0 is not valid: Invalid value: 0: the value should be greater than or equal to 1",
        ),
        (
            json!({"type": "object", "default": {}, "required": ["a"], "properties": {"a": {"type": "string"}}}),
            "f: the default {} is not valid at a: Required value",
        ),
        (json!({"type": "string", "x-kubernetes-list-type": "set"}), "f: only a list is a set or a map"),
        (
            json!({"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "object"}}),
            "f: the items of a set are scalars, or objects that are replaced as a whole",
        ),
        (
            json!({"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
                "items": {"type": "object"}}),
            r#"f: the key "name" is not a field of the items"#,
        ),
        (json!({"type": "object", "union": true}), "f: a union has members"),
        (json!({"type": "object", "additionalProperties": {"type": "array"}}), "f.*: a list declares its items"),
    ] {
        assert_eq!(problems(&property), [expected], "{property}");
    }
    let keyed = json!({"type": "object", "properties": {"f": {"type": "array", "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["name"], "items": {"type": "object", "properties": {"name": {"type": "string"}}}}}});
    assert_eq!(schema(&keyed).check(), Ok(()), "Kubernetes has such lists");
    assert_eq!(optional_keys(&schema(&keyed)), [r#"f: the key "name" is neither required nor has it a default"#]);
    let reserved = json!({"type": "object", "properties": {"metadata": {"type": "object"}}});
    assert_eq!(
        schema(&reserved).check().expect_err("reserved"),
        ["metadata: every object has this field; a kind does not declare it"]
    );
}

#[test]
fn contradictions_are_mistakes_of_those_who_declare_a_kind_alone() {
    for (property, expected) in [
        (json!({"type": "string", "minLength": 3, "maxLength": 2}), "f: length: the minimum 3 is above the maximum 2"),
        (
            json!({"type": "integer", "minimum": 3, "maximum": 3, "exclusiveMaximum": true}),
            "f: no number lies between the minimum 3 and the maximum 3",
        ),
        (json!({"type": "array", "items": {"type": "integer", "multipleOf": 0}}), "f.[]: multipleOf is above zero"),
        (
            json!({"type": "object", "additionalProperties": {"type": "string", "enum": ["a", 1, null]}}),
            r#"f.*: the allowed value 1 is not valid: Invalid value: "integer": the value must be of type string: "integer""#,
        ),
        (
            json!({"type": "object", "additionalProperties": {"type": "array", "items": {"type": "string", "default": 1}}}),
            r#"f.*.[]: the default 1 is not valid: Invalid value: "integer": the value must be of type string: "integer""#,
        ),
        (
            json!({"type": "string", "oneOf": [{"minLength": 2, "maxLength": 1}]}),
            "f.oneOf[0]: length: the minimum 2 is above the maximum 1",
        ),
    ] {
        let declared = schema(&json!({"type": "object", "properties": {"f": property}}));
        assert_eq!((declared.check(), contradictions(&declared)), (Ok(()), vec![expected.to_owned()]), "{property}");
    }
    assert_eq!(contradictions(&widget()), Vec::<String>::new());
}

#[test]
fn branches_of_junctors_only_validate_what_is_declared_outside() {
    let fine = json!({"type": "object", "properties": {"f": {"type": "object",
        "properties": {"a": {"type": "array", "items": {"type": "string"}}, "b": {"type": "string"}},
        "anyOf": [{"required": ["a"]}, {"properties": {"a": {"items": {"maxLength": 3}}, "b": {"format": "date"}}}],
        "not": {"allOf": [{"properties": {"b": {"enum": ["x"]}}}]}}}});
    assert_eq!(schema(&fine).check(), Ok(()));
    let outside = "what allOf, anyOf, oneOf or not restricts must also be declared outside of them";
    let inside = "is not allowed inside allOf, anyOf, oneOf and not";
    for (branch, expected) in [
        (json!({"anyOf": [{}, {"properties": {"b": {"properties": {"c": {}}}}}]}), format!("f.anyOf[1].b: {outside}")),
        (json!({"not": {"items": {"minimum": 1}}}), format!("f.not.[]: {outside}")),
        (json!({"allOf": [{"oneOf": [{"properties": {"b": {}}}]}]}), format!("f.allOf[0].oneOf[0].b: {outside}")),
        (
            json!({"properties": {"metadata": {"type": "object"}}, "not": {"properties": {"metadata": {}}}}),
            "f.not.metadata: allOf, anyOf, oneOf and not do not restrict metadata".to_owned(),
        ),
        (json!({"oneOf": [{"type": "string"}]}), format!("f.oneOf[0]: type {inside}")),
        (json!({"allOf": [{"description": "x"}]}), format!("f.allOf[0]: description {inside}")),
        (json!({"allOf": [{"title": "X"}]}), format!("f.allOf[0]: title {inside}")),
        (json!({"allOf": [{"default": 1}]}), format!("f.allOf[0]: default {inside}")),
        (json!({"allOf": [{"nullable": true}]}), format!("f.allOf[0]: nullable {inside}")),
        (json!({"allOf": [{"additionalProperties": {}}]}), format!("f.allOf[0]: additionalProperties {inside}")),
        (
            json!({"allOf": [{"properties": {"a": {"x-kubernetes-preserve-unknown-fields": true}}}]}),
            format!("f.allOf[0].a: x-kubernetes-preserve-unknown-fields {inside}"),
        ),
        (
            json!({"allOf": [{"x-kubernetes-embedded-resource": true}]}),
            format!("f.allOf[0]: x-kubernetes-embedded-resource {inside}"),
        ),
        (
            json!({"allOf": [{"x-kubernetes-int-or-string": true}]}),
            format!("f.allOf[0]: x-kubernetes-int-or-string {inside}"),
        ),
        (json!({"allOf": [{"x-kubernetes-list-type": "set"}]}), format!("f.allOf[0]: x-kubernetes-list-type {inside}")),
        (
            json!({"allOf": [{"x-kubernetes-map-type": "atomic"}]}),
            format!("f.allOf[0]: x-kubernetes-map-type {inside}"),
        ),
    ] {
        let mut property = json!({"type": "object", "properties": {"a": {"type": "string"}}});
        property.as_object_mut().unwrap().extend(branch.as_object().unwrap().clone());
        assert_eq!(problems(&property), [expected], "{branch}");
    }
    let defaulted = json!({"type": "integer", "default": 1, "anyOf": [{"minimum": 2}]});
    assert_eq!(
        problems(&defaulted)[0],
        r#"f: the default 1 is not valid: Invalid value: "": "" must validate at least one schema (anyOf)"#
    );
}
