//! Validation, with recorded messages of kube-apiserver.
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::schema::{
    Decoder, Meter, check_types, check_types_of_change, default,
    fixture::{documents, object, schema, widget},
    validate, validate_change,
};

fn errors_of(from: &Value, document: &Value) -> Vec<String> {
    validate(&schema(from), document, &Meter::default()).unwrap().iter().map(ToString::to_string).collect()
}

/// The errors of one field `f` of a schema.
pub(super) fn field_errors(from: &Value, value: &Value) -> Vec<String> {
    errors_of(&json!({"type": "object", "properties": {"f": from}}), &json!({"f": value}))
}

fn widget_errors(spec: &Value) -> Vec<String> {
    let mut document = object(spec);
    default(&widget(), &mut document, &Meter::default()).unwrap();
    validate(&widget(), &document, &Meter::default()).unwrap().iter().map(ToString::to_string).collect()
}

#[test]
fn many_and_long_errors_are_counted_and_not_repeated() {
    let of = |item: Value, count: usize, text: &str| {
        let root = schema(&json!({"type": "object", "properties": {"l": {"type": "array", "items": item}}}));
        validate(&root, &json!({"l": vec![text; count]}), &Meter::default()).unwrap()
    };
    let integer = json!({"type": "integer"});
    assert_eq!(of(integer.clone(), 1_000, "x").len(), 1_000);
    let many = of(integer, 5_000, "x");
    assert_eq!((many.len(), many[1_000].to_string().as_str()), (1_001, "and 4000 more errors"));
    let long = of(json!({"type": "string", "minLength": 20_000}), 500, &"x".repeat(10_000));
    assert!(long.iter().map(|error| error.to_string().len()).sum::<usize>() < 300_000);
    assert_eq!(long.last().unwrap().to_string(), format!("and {} more errors", 500 - (long.len() - 1)));
}

#[test]
fn a_walk_ends_when_its_meter_is_exceeded() {
    let numbers = json!({"type": "array", "items": {"type": "integer", "anyOf": vec![json!({"minimum": 1}); 1_000]}});
    let schema = schema(&json!({"type": "object", "properties": {"l": numbers}}));
    let start = std::time::Instant::now();
    let exceeded = validate(&schema, &json!({"l": vec![0; 1_000_000]}), &Meter::stored());
    assert_eq!(exceeded, Err(crate::schema::Exceeded::Steps));
    assert!(start.elapsed() < std::time::Duration::from_secs(5), "{:?}", start.elapsed());
}

#[test]
fn an_embedded_object_says_what_it_is_and_has_valid_metadata() {
    let embedded =
        json!({"type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true});
    let errors = |object: Value| field_errors(&embedded, &object);
    let with = |metadata: Value| json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata});
    for valid in [
        Value::Null,
        json!({}),
        json!({"name": "a", "namespace": "b"}),
        json!({"name": "Any:Name", "generateName": "p-"}),
    ] {
        assert_eq!(errors(with(valid)), [""; 0]);
    }
    assert_eq!(errors(json!({})), ["f.apiVersion: Required value", "f.kind: Required value"]);
    assert_eq!(
        errors(json!({"apiVersion": 1, "kind": ""})),
        ["f.apiVersion: Invalid value: 1: must be a string", "f.kind: Invalid value: \"\": must not be empty"]
    );
    assert_eq!(
        errors(json!({"apiVersion": "a/b/c", "kind": "Pod"})),
        ["f.apiVersion: Invalid value: \"a/b/c\": unexpected GroupVersion string: a/b/c"]
    );
    let kind = &errors(json!({"apiVersion": "v1", "kind": "Pod!"}))[0];
    assert!(
        kind.starts_with(
            "f.kind: Invalid value: \"Pod!\": may have mixed case, but should otherwise match: a DNS-1035 label"
        ),
        "{kind}"
    );
    for (metadata, field) in [
        (json!({"name": "a/b"}), "f.metadata.name: Invalid value: \"a/b\": "),
        (json!({"namespace": "A"}), "f.metadata.namespace: Invalid value: \"A\": "),
        (json!({"labels": {"a": "b c"}}), "f.metadata.labels: Invalid value: \"b c\": "),
        (json!({"annotations": {"a b": "c"}}), "f.metadata.annotations: Invalid value: \"a b\": "),
        (json!({"finalizers": ["a b"]}), "f.metadata.finalizers: Invalid value: \"a b\": "),
        (
            json!({"ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "p"}]}),
            "f.metadata.ownerReferences.uid: Invalid value: \"\": ",
        ),
        (
            json!({"labels": {"a": 1}}),
            "f.metadata: Invalid value: {\"labels\":{\"a\":1}}: json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string",
        ),
        (json!([]), "f.metadata: Invalid value: []: json: cannot unmarshal array into Go value of type v1.ObjectMeta"),
    ] {
        let found = errors(with(metadata));
        assert!(found.len() == 1 && found[0].starts_with(field), "{found:?} is not {field}");
    }
}

#[test]
fn recorded_answers_of_kube_apiserver() {
    let long = "x".repeat(65);
    for (spec, expected) in [
        (json!({}), "spec.size: Required value"),
        (json!({"size": null}), "spec.size: Required value"),
        (json!({"size": 0}), "spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1"),
        (json!({"size": 101}), "spec.size: Invalid value: 101: spec.size in body should be less than or equal to 100"),
        (
            json!({"size": 1, "color": "Purple"}),
            r#"spec.color: Unsupported value: "Purple": supported values: "Red", "Green", "Blue""#,
        ),
        (json!({"size": 1, "description": long}), "spec.description: Too long: may not be more than 64 bytes"),
        (
            json!({"size": 1, "ports": [{"name": "a", "port": 1}, {"name": "a", "port": 2}]}),
            r#"spec.ports[1]: Duplicate value: {"name":"a"}"#,
        ),
        (json!({"size": 1, "tags": ["a", "a", "a"]}), r#"spec.tags[1]: Duplicate value: "a""#),
        (
            json!({"size": 1, "code": "abc"}),
            r#"spec.code: Invalid value: "abc": spec.code in body should match '^[A-Z]{2}-[0-9]+$'"#,
        ),
        (json!({"size": 1, "ports": [{"port": 1}]}), "spec.ports[0].name: Required value"),
        (
            json!({"size": 1, "options": {"a": "1", "b": "2", "c": "3", "d": "4"}}),
            "spec.options: Too many: 4: must have at most 3 items",
        ),
        (
            json!({"size": 1, "args": ["1", "2", "3", "4", "5", "6"]}),
            "spec.args: Too many: 6: must have at most 5 items",
        ),
        (
            json!({"size": "big"}),
            r#"spec.size: Invalid value: "string": spec.size in body must be of type integer: "string""#,
        ),
        (
            json!({"size": 1, "paused": "yes"}),
            r#"spec.paused: Invalid value: "string": spec.paused in body must be of type boolean: "string""#,
        ),
        (
            json!({"size": 1, "args": "x"}),
            r#"spec.args: Invalid value: "string": spec.args in body must be of type array: "string""#,
        ),
        (
            json!({"size": 1, "options": ["a"]}),
            r#"spec.options: Invalid value: "array": spec.options in body must be of type object: "array""#,
        ),
    ] {
        assert_eq!(widget_errors(&spec), [expected], "{spec}");
    }
    let fraction = [
        r#"spec.size: Invalid value: "float64": spec.size in body must be of type int32: "float64""#,
        r#"<nil>: Invalid value: "": Checked value must be of type integer with format int32 in spec.size"#,
    ];
    assert_eq!(widget_errors(&json!({"size": 1.5})), fraction);
    let too_large = [
        r#"<nil>: Invalid value: "": Checked value must be of type integer with format int32 in spec.size"#,
        "spec.size: Invalid value: 3000000000: spec.size in body should be less than or equal to 100",
    ];
    assert_eq!(widget_errors(&json!({"size": 3_000_000_000_i64})), too_large);
    assert_eq!(widget_errors(&json!({"size": 0, "color": "Purple", "code": "abc"})).len(), 3);
    assert_eq!(widget_errors(&Value::Null), ["spec: Required value"]);
    assert_eq!(widget_errors(&json!({"size": 1})), Vec::<String>::new());
}

#[test]
fn errors_about_bounds_name_the_limit() {
    for (rule, value, expected) in [
        (
            json!({"type": "string", "minLength": 2}),
            json!("é"),
            r#"Invalid value: "é": f in body should be at least 2 chars long"#,
        ),
        (
            json!({"type": "array", "minItems": 1, "items": {}}),
            json!([]),
            "Invalid value: 0: f in body should have at least 1 items",
        ),
        (
            json!({"type": "object", "minProperties": 1, "additionalProperties": {}}),
            json!({}),
            "Invalid value: 0: f in body should have at least 1 properties",
        ),
        (
            json!({"type": "integer", "multipleOf": 5}),
            json!(7),
            "Invalid value: 7: f in body should be a multiple of 5",
        ),
        (
            json!({"type": "number", "multipleOf": 0.5}),
            json!(0.7),
            "Invalid value: 0.7: f in body should be a multiple of 0.5",
        ),
        (
            json!({"type": "integer", "minimum": 1, "exclusiveMinimum": true}),
            json!(1),
            "Invalid value: 1: f in body should be greater than 1",
        ),
        (
            json!({"type": "number", "maximum": 1.5, "exclusiveMaximum": true}),
            json!(1.5),
            "Invalid value: 1.5: f in body should be less than 1.5",
        ),
        (
            json!({"type": "string", "format": "date-time"}),
            json!("yesterday"),
            r#"Invalid value: "yesterday": f in body must be of type date-time: "yesterday""#,
        ),
        (
            json!({"type": "string", "format": "date-time"}),
            json!(5),
            r#"Invalid value: "int64": f in body must be of type date-time: "int64""#,
        ),
        (
            json!({"type": "string", "format": "byte"}),
            json!("%"),
            r#"Invalid value: "%": f in body must be of type byte: "%""#,
        ),
        (
            json!({"x-kubernetes-int-or-string": true}),
            json!(true),
            r#"Invalid value: "boolean": f in body must be of type integer,string: "boolean""#,
        ),
        (
            json!({"type": "array", "items": {"type": "string"}}),
            json!([null]),
            r#"Invalid value: "null": f[0] in body must be of type string: "null""#,
        ),
    ] {
        let path = if value == json!([null]) { "f[0]" } else { "f" };
        assert_eq!(field_errors(&rule, &value), [format!("{path}: {expected}")], "{rule}");
    }
}

#[test]
fn values_within_bounds_are_allowed() {
    for (rule, value) in [
        (json!({"type": "number", "multipleOf": 0.1}), json!(0.3)),
        (json!({"type": "integer", "format": "int64", "maximum": 1e30}), json!(i64::MAX)),
        (json!({"type": "string", "format": "unheard-of"}), json!("x")),
        (json!({"type": "number", "format": "double"}), json!(1)),
    ] {
        assert_eq!(field_errors(&rule, &value), Vec::<String>::new(), "{rule}");
    }
}

#[test]
fn a_union_has_exactly_one_member() {
    let union =
        json!({"type": "object", "union": true, "properties": {"a": {"type": "string"}, "b": {"type": "string"}}});
    assert_eq!(field_errors(&union, &json!({"a": "1"})), Vec::<String>::new());
    assert_eq!(field_errors(&union, &json!({})), [r#"f: Invalid value: "": must specify one of: `a`, `b`"#]);
    let both = field_errors(&union, &json!({"a": "1", "b": "2"}));
    assert_eq!(both, [r#"f: Invalid value: "{a, b}": must specify exactly one of: `a`, `b`"#]);
}

#[test]
fn keys_of_several_fields_and_other_types_in_map_lists() {
    let map = json!({"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["port", "protocol"],
        "items": {"type": "object", "properties": {"port": {"type": "integer"}, "protocol": {"type": "string"}}}});
    let twice = json!([{"port": 1, "protocol": "TCP"}, {"port": 1, "protocol": "UDP"}, {"port": 1, "protocol": "TCP"}]);
    assert_eq!(field_errors(&map, &twice), [r#"f[2]: Duplicate value: {"port":1,"protocol":"TCP"}"#]);
    assert_eq!(field_errors(&map, &json!([{}, {}])), ["f[1]: Duplicate value: {}"]);
    let stranger = field_errors(&map, &json!(["x"]));
    assert_eq!(stranger[1], r#"f[0]: Invalid value: "x": must be an object for an array of list-type map"#);
}

#[test]
fn immutable_fields_are_set_once() {
    let from = json!({"type": "object", "properties": {
        "a": {"type": "string", "immutable": true},
        "in": {"type": "object", "properties": {"b": {"type": "integer", "immutable": true}}},
        "list": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
            "items": {"type": "object", "properties": {
                "name": {"type": "string"}, "c": {"type": "string", "immutable": true}}}}}});
    let changes = |new: &Value, old: &Value| -> Vec<String> {
        validate_change(&schema(&from), Vec::new(), new, old, &Meter::default())
            .unwrap()
            .iter()
            .map(ToString::to_string)
            .collect()
    };
    let old = json!({"a": "1", "in": {"b": 1}, "list": [{"name": "x", "c": "1"}, {"name": "y", "c": "2"}]});
    assert_eq!(changes(&old, &old), Vec::<String>::new());
    assert_eq!(changes(&old, &json!({})), Vec::<String>::new(), "they may be set later");
    let new = json!({"a": "2", "list": [{"name": "y", "c": "3"}]});
    assert_eq!(
        changes(&new, &old),
        [
            r#"a: Invalid value: "2": field is immutable"#,
            "in.b: Invalid value: null: field is immutable",
            r#"list[0].c: Invalid value: "3": field is immutable"#,
        ]
    );
}

#[test]
fn types_of_compiled_kinds_are_reported_as_in_go() {
    let config_map = schema(&json!({"type": "object", "title": "ConfigMap", "properties": {
        "data": {"type": "object", "additionalProperties": {"type": "string"}},
        "binaryData": {"type": "object", "additionalProperties": {"type": "string", "scalar": "bytes"}},
        "immutable": {"type": "boolean"},
        "parameters": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
        "refs": {"type": "array", "items": {"type": "object", "title": "Ref", "properties": {
            "count": {"type": "integer", "format": "int32"}, "at": {"type": "string", "scalar": "time"},
            "exactly": {"type": "string", "scalar": "microTime"}}}}}}));
    for (document, expected) in [
        (json!({"data": {"k": 7}}), "json: cannot unmarshal number into Go struct field ConfigMap.data of type string"),
        (
            json!({"data": []}),
            "json: cannot unmarshal array into Go struct field ConfigMap.data of type map[string]string",
        ),
        (
            json!({"immutable": "x"}),
            "json: cannot unmarshal string into Go struct field ConfigMap.immutable of type bool",
        ),
        (
            json!({"refs": [{"count": 3_000_000_000_i64}]}),
            "json: cannot unmarshal number 3000000000 into Go struct field Ref.refs.count of type int32",
        ),
        (
            json!({"parameters": 1}),
            "json: cannot unmarshal number into Go struct field ConfigMap.parameters of type v1.RawExtension",
        ),
        (json!({"refs": [{}, 1]}), "json: cannot unmarshal number into Go struct field ConfigMap.refs of type v1.Ref"),
        (json!([]), "json: cannot unmarshal array into Go value of type v1.ConfigMap"),
        (json!({"binaryData": {"k": "%"}}), "illegal base64 data at input byte 0"),
        (
            json!({"refs": [{"at": "x"}]}),
            r#"parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006""#,
        ),
        (
            json!({"refs": [{"exactly": "2026-01-02T03:04:05Z"}]}),
            r#"parsing time "2026-01-02T03:04:05Z" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "Z" as ".000000""#,
        ),
    ] {
        assert_eq!(check_types(&config_map, &document).as_deref(), Some(expected), "{document}");
    }
    let fine = json!({"data": null, "binaryData": {"k": "aGk="}, "immutable": true, "refs": [{"count": 1}, null]});
    assert_eq!(check_types(&config_map, &fine), None);
}

proptest! {
    #[test]
    fn any_document_is_answered(spec in documents(), old in documents()) {
        let schema = widget();
        let document = object(&spec);
        let (found, old) = (validate(&schema, &document, &Meter::default()).unwrap(), object(&old));
        validate_change(&schema, found, &document, &old, &Meter::default()).unwrap();
        check_types(&schema, &document);
        check_types_of_change(Decoder::Json, &schema, &document, &old, &Meter::default());
    }

    #[test]
    fn validation_refuses_what_go_would_refuse(spec in documents()) {
        // Both know the same types; validation knows more. (A null in a list is absent to Go, an error to a schema.)
        let mut document = object(&spec);
        default(&widget(), &mut document, &Meter::default()).unwrap();
        if check_types(&widget(), &document).is_some() {
            prop_assert!(!validate(&widget(), &document, &Meter::default()).unwrap().is_empty());
        }
    }
}
