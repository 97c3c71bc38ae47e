//! Defaulting, pruning, normalization and fingerprints.
use std::collections::BTreeSet;

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::{
    meta::FieldPath,
    schema::{
        Meter, Schema, default, fingerprint,
        fingerprint::rules,
        fixture::{documents, object, schema, widget},
        normalise, prune,
    },
};

#[test]
fn defaults_that_multiply_end_at_the_limit() {
    let item = json!({"type": "object", "properties": {"d": {"type": "string", "default": "x".repeat(20_000)}}});
    let schema = schema(&json!({"type": "object", "properties": {"l": {"type": "array", "items": item}}}));
    let filled = |count: usize| {
        let mut document = json!({"l": vec![json!({}); count]});
        let done = default(&schema, &mut document, &Meter::default());
        (done, crate::schema::memory::taken(&document))
    };
    assert!(filled(1_000).0.is_ok());
    let (done, taken) = filled(100_000);
    assert_eq!(done, Err(crate::schema::Exceeded::Bytes));
    assert!(taken < 100 << 20, "{taken}");
}

#[test]
fn defaults_are_filled_in_structs_items_and_entries_that_exist() {
    let mut document = object(&json!({"size": 1, "color": null, "paused": null, "ports": [{"name": "a", "port": 1}]}));
    default(&widget(), &mut document, &Meter::default()).unwrap();
    let ports = json!([{"name": "a", "port": 1, "protocol": "TCP"}]);
    assert_eq!(document["spec"], json!({"size": 1, "color": "Red", "replicas": 1, "ports": ports}));
    assert_eq!(document["status"], json!(null), "a struct that is absent stays so");

    let nested = schema(&json!({"type": "object", "properties": {
        "limits": {"type": "object", "default": {}, "properties": {"cpu": {"type": "integer", "default": 2}}},
        "byName": {"type": "object", "additionalProperties": {
            "type": "object", "properties": {"on": {"type": "boolean", "default": true}}}},
        "maybe": {"type": "string", "nullable": true, "default": "x"},
        "gone": {"type": "string"},
        "list": {"type": "array", "items": {"type": "string"}}}}));
    let mut document = json!({"byName": {"a": {}, "b": null}, "maybe": null, "gone": null, "list": [null]});
    default(&nested, &mut document, &Meter::default()).unwrap();
    assert_eq!(document, json!({"limits": {"cpu": 2}, "byName": {"a": {"on": true}}, "maybe": null, "list": [null]}));
}

#[test]
fn an_empty_text_that_means_absent_gets_the_default() {
    let secret = schema(&json!({"type": "object", "properties": {
        "type": {"type": "string", "omitEmpty": true, "zeroIsAbsent": true, "default": "Opaque"},
        "kept": {"type": "string", "default": "x"}}}));
    let mut document = json!({"type": "", "kept": ""});
    default(&secret, &mut document, &Meter::default()).unwrap();
    assert_eq!(document, json!({"type": "Opaque", "kept": ""}));
}

#[test]
fn unknown_fields_are_dropped_and_named() {
    let mut document = object(&json!({
        "size": 1, "sise": 2, "ports": [{"name": "a", "port": 1, "prot": "x"}], "options": {"any": "key"},
        "metadata": {"name": "unknown here"},
    }));
    document["extra"] = json!({"a": 1});
    let dropped = prune(&widget(), &mut document);
    let paths: Vec<_> = dropped.iter().map(FieldPath::as_str).collect();
    assert_eq!(paths, ["extra", "spec.metadata", "spec.ports[0].prot", "spec.sise"]);
    let spec = json!({"size": 1, "ports": [{"name": "a", "port": 1}], "options": {"any": "key"}});
    assert_eq!(document, object(&spec));
}

#[test]
fn preserved_and_embedded_objects_keep_unknown_fields_but_declared_fields_are_pruned() {
    let open = schema(&json!({"type": "object", "properties": {
        "raw": {},
        "open": {"type": "object", "x-kubernetes-preserve-unknown-fields": true,
            "properties": {"known": {"type": "object", "properties": {"a": {"type": "string"}}}}},
        "pod": {"type": "object", "x-kubernetes-embedded-resource": true, "properties": {"spec": {"type": "object"}}}}}));
    let mut document = json!({
        "raw": {"any": [{"thing": 1}]},
        "open": {"other": {"x": 1}, "known": {"a": "1", "b": "2"}},
        "pod": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "other": 1},
    });
    let dropped = prune(&open, &mut document);
    assert_eq!(dropped, [FieldPath::new("open.known.b"), FieldPath::new("pod.other")]);
    assert_eq!(document["raw"], json!({"any": [{"thing": 1}]}));
    assert_eq!(document["open"]["other"], json!({"x": 1}));
}

#[test]
fn empty_values_mean_absent_if_the_schema_says_so() {
    let built_in = schema(&json!({"type": "object", "properties": {
        "data": {"type": "object", "omitEmpty": true, "additionalProperties": {"type": "string"}},
        "secrets": {"type": "array", "omitEmpty": true, "items": {"type": "object", "title": "Ref", "properties": {
            "name": {"type": "string", "omitEmpty": true, "zeroIsAbsent": true}}}},
        "mount": {"type": "boolean", "omitEmpty": true},
        "count": {"type": "integer", "omitEmpty": true},
        "plain": {"type": "integer", "omitEmpty": true, "zeroIsAbsent": true},
        "off": {"type": "boolean", "omitEmpty": true, "zeroIsAbsent": true},
        "pointer": {"type": "string", "omitEmpty": true},
        "status": {"type": "object", "omitEmpty": true, "zeroIsAbsent": true, "properties": {
            "phase": {"type": "string", "omitEmpty": true, "zeroIsAbsent": true}}},
        "limits": {"type": "object", "additionalProperties": {"type": "string", "scalar": "quantity"}},
        "kept": {"type": "string"}}}));
    let mut document = json!({
        "limits": {"cpu": 2, "memory": "1Gi"}, "data": {}, "secrets": [{"name": ""}], "mount": false, "count": 0, "status": {"phase": ""}, "kept": "",
        "plain": 0, "off": false, "pointer": "",
        "metadata": {"labels": {}},
    });
    normalise(&built_in, &mut document);
    let expected = json!({
        "limits": {"cpu": "2", "memory": "1Gi"}, "secrets": [{}], "mount": false, "count": 0, "status": {}, "kept": "", "metadata": {},
        "pointer": "",
    });
    assert_eq!(document, expected);
}

#[test]
fn text_of_types_of_go_is_printed_anew() {
    let typed = schema(&json!({"type": "object", "properties": {
        "at": {"type": "string", "scalar": "time"}, "exactly": {"type": "string", "scalar": "microTime"},
        "zero": {"type": "string", "scalar": "time"}, "wrong": {"type": "string", "scalar": "microTime"},
        "sizes": {"type": "array", "items": {"type": "string", "scalar": "quantity"}},
        "data": {"type": "object", "additionalProperties": {"type": "string", "scalar": "bytes"}},
        "sent": {"type": "string", "format": "date-time"}, "raw": {"type": "string", "format": "byte"}}}));
    let mut document = json!({
        "at": "2026-01-02T03:04:05.5+01:00", "exactly": "2026-01-02T04:04:07.500000+01:00",
        "zero": "0001-01-01T00:00:00Z", "wrong": "2026-01-02T03:04:05Z",
        "sizes": ["1000m", 0.5, "1024Mi", "1Gi"], "data": {"a": "aG\nk=", "b": "aB==", "c": "aGkh"},
        "sent": "2026-01-02t03:04:05.5+01:00", "raw": "aB==",
        "metadata": {"creationTimestamp": "2026-01-02T03:04:05.999999+00:00"},
    });
    normalise(&typed, &mut document);
    let expected = json!({
        "at": "2026-01-02T02:04:05Z", "exactly": "2026-01-02T03:04:07.500000Z", "wrong": "2026-01-02T03:04:05Z",
        "sizes": ["1000m", "0.5", "1024Mi", "1Gi"], "data": {"a": "aGk=", "b": "aA==", "c": "aGkh"},
        "sent": "2026-01-02t03:04:05.5+01:00", "raw": "aB==",
        "metadata": {"creationTimestamp": "2026-01-02T03:04:05Z"},
    });
    assert_eq!(document, expected);
}

#[test]
fn fingerprints_change_only_with_relevant_changes() {
    let before = fingerprint(&widget());
    assert_eq!(before, 7_590_412_432_825_754_169, "the fingerprint of a schema must stay the same over builds");
    let mut described = widget();
    described.description = "other".to_owned();
    assert_eq!(fingerprint(&described), before);
    let mut defaulted = widget();
    defaulted.properties.get_mut("spec").expect("spec").default = Some(json!({}));
    assert_ne!(fingerprint(&defaulted), before);
    let mut renamed = widget();
    let status = renamed.properties.remove("status").expect("status");
    renamed.properties.insert("state".to_owned(), status);
    assert_ne!(fingerprint(&renamed), before);
}

#[test]
fn the_rules_hash_changes_with_each_junctor_and_what_is_in_it() {
    let of = |junctors: &Value| {
        let with = Schema { junctors: schema(junctors).junctors, ..widget() };
        assert_eq!(fingerprint(&with), fingerprint(&widget()), "documents are read the same: {junctors}");
        rules(&with)
    };
    let hashes: BTreeSet<_> = [
        json!({}),
        json!({"allOf": [{}]}),
        json!({"anyOf": [{}]}),
        json!({"anyOf": [{}, {}]}),
        json!({"oneOf": [{}]}),
        json!({"not": {}}),
        json!({"anyOf": [{"minimum": 1}]}),
        json!({"anyOf": [{"format": "date"}]}),
        json!({"anyOf": [{"properties": {"a": {"format": "date"}}}]}),
        json!({"anyOf": [{"not": {"format": "date"}}]}),
    ]
    .iter()
    .map(of)
    .collect();
    assert_eq!(hashes.len(), 10);
}

proptest! {
    #[test]
    fn each_step_is_done_once(spec in documents(), extra in documents()) {
        let schema = widget();
        let mut document = object(&spec);
        document["extra"] = extra;
        prune(&schema, &mut document);
        default(&schema, &mut document, &Meter::default()).unwrap();
        normalise(&schema, &mut document);
        let mut again = document.clone();
        prop_assert!(prune(&schema, &mut again).is_empty());
        default(&schema, &mut again, &Meter::default()).unwrap();
        normalise(&schema, &mut again);
        prop_assert_eq!(again, document);
    }
}
