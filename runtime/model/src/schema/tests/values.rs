//! Which values of a type are allowed or kept, where kube-apiserver decides it in ways of its own.
use serde_json::{Value, json};

use super::validation::field_errors;
use crate::schema::{Decoder, check_types_by, fixture::schema, prune};

#[test]
fn types_of_patched_objects_are_reported_as_by_the_converter() {
    let typed = schema(&json!({"type": "object", "properties": {
        "labels": {"type": "object", "additionalProperties": {"type": "string"}},
        "spec": {"type": "object", "properties": {"a": {"type": "string"}}},
        "items": {"type": "array", "items": {"type": "integer", "format": "int32"}},
        "flag": {"type": "boolean"}, "text": {"type": "string"}, "at": {"type": "string", "scalar": "time"},
        "data": {"type": "string", "scalar": "bytes"}, "port": {"x-kubernetes-int-or-string": true}}}));
    for (document, expected) in [
        (json!({"labels": "invalid"}), "cannot restore map from string"),
        (json!({"labels": ["a"]}), "cannot restore map from slice"),
        (json!({"labels": {"a": 1}}), "cannot convert int64 to string"),
        (json!({"labels": {"a": true}}), "unrecognized type: string"),
        (json!({"spec": 1}), "cannot restore struct from: int64"),
        (json!({"spec": {"a": {}}}), "unrecognized type: string"),
        (json!({"items": {"a": 1}}), "cannot restore slice from map"),
        (json!({"items": ["1"]}), "unrecognized type: int32"),
        (json!({"items": [1.5]}), "cannot convert float64 to int32"),
        (json!({"flag": "yes"}), "unrecognized type: bool"),
        (json!({"at": 1}), "json: cannot unmarshal number into Go value of type string"),
        (json!({"at": "x"}), r#"parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006""#),
        (json!({"data": 1}), "cannot restore slice from int64"),
        (json!({"port": true}), "json: cannot unmarshal bool into Go value of type int32"),
    ] {
        let said = check_types_by(Decoder::Converter, &typed, &document);
        assert_eq!(said.as_deref(), Some(expected), "{document}");
    }
}

#[test]
fn only_formats_of_the_type_bound_numbers() {
    let refused = |format: &str, kind: &str, value: Value| {
        !field_errors(&json!({"type": kind, "format": format}), &value).is_empty()
    };
    for (format, kind, largest, beyond) in [
        ("float", "number", json!(3.402_823_5e38), json!(-3.402_823_6e38)),
        ("float", "number", json!(-1.5e-320), json!(4e38)),
        ("int32", "integer", json!(2_147_483_647_i64), json!(2_147_483_648_i64)),
        ("int64", "integer", json!(i64::MIN), json!(1e19)),
    ] {
        assert!(!refused(format, kind, largest) && refused(format, kind, beyond), "{format}");
    }
    for (format, kind, value) in [
        ("double", "number", json!(1e300)),
        ("int32", "number", json!(1e300)),
        ("float", "integer", json!(i64::MAX)),
        ("uint8", "integer", json!(-1)),
    ] {
        assert!(!refused(format, kind, value), "{format} {kind}");
    }
    assert_eq!(
        field_errors(&json!({"type": "number", "format": "float"}), &json!(4e38)),
        [r#"<nil>: Invalid value: "": Checked value must be of type number with format float in f"#]
    );
    assert_eq!(field_errors(&json!({"x-kubernetes-int-or-string": true}), &json!(1_i64 << 40)), Vec::<String>::new());
}

#[test]
fn null_is_none_of_the_allowed_values() {
    let listed = json!({"type": "string", "nullable": true, "enum": ["a", null]});
    assert_eq!(field_errors(&listed, &json!("a")), Vec::<String>::new());
    assert_eq!(field_errors(&listed, &Value::Null).len(), 1);
    let bare = json!({"type": "string", "nullable": true, "minLength": 1});
    assert_eq!(field_errors(&bare, &Value::Null), Vec::<String>::new());
    // A fraction is compared without what is after the point.
    let numbers = json!({"type": "number", "enum": [1, 2.5]});
    let allowed = |value: Value| field_errors(&numbers, &value).is_empty();
    assert!(allowed(json!(1)) && allowed(json!(1.9)) && allowed(json!(2.5)));
    assert!(!allowed(json!(2)) && !allowed(json!(2.4)) && !allowed(json!(0.5)));
}

#[test]
fn a_map_whose_values_are_all_forbidden_has_none() {
    let closed = json!({"type": "object", "additionalProperties": false});
    assert_eq!(field_errors(&closed, &json!({})), Vec::<String>::new());
    assert_eq!(
        field_errors(&closed, &json!({"v": 1})),
        [r#"f: Invalid value: "v": f.v in body is a forbidden property"#]
    );
    let open = json!({"type": "object", "additionalProperties": true});
    assert_eq!(field_errors(&open, &json!({"v": [1], "w": {}, "x": null})), Vec::<String>::new());
}

#[test]
fn fields_of_values_without_a_schema_are_dropped() {
    for boolean in [true, false] {
        let from = schema(&json!({"type": "object", "properties": {
            "f": {"type": "object", "additionalProperties": boolean}}}));
        let mut document = json!({"f": {"a": 1, "b": {"c": 1}, "d": [{"e": 1}, 2]}});
        prune(&from, &mut document);
        assert_eq!(document, json!({"f": {"a": 1, "b": {}, "d": [{}, 2]}}));
    }
}
