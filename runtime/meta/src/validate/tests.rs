//! Validation of metadata compared with recorded answers, and of names with the published regular expressions.
use proptest::prelude::*;
use regex::Regex;
use serde_json::json;

use super::*;
use crate::{FieldError, FieldPath};

fn told(errors: &[FieldError]) -> Vec<String> {
    errors.iter().map(ToString::to_string).collect()
}

fn created(metadata: &Value) -> Vec<String> {
    told(&object_meta(metadata, true, subdomain, &FieldPath::new("metadata")))
}

const SUBDOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

#[test]
fn names_are_refused_as_recorded() {
    assert_eq!(subdomain("Bad_Name", false), [SUBDOMAIN]);
    assert_eq!(subdomain(&"x".repeat(254), false), ["must be no more than 253 characters"]);
    assert_eq!(label("with.dots", false), ["must not contain dots"]);
    assert_eq!(label(&"x".repeat(64), false), ["must be no more than 63 characters"]);
    assert!(label("-a", false)[0].starts_with("a lowercase RFC 1123 label must consist of"));
    for good in ["a", "a.b", "1", "a-b.c-d", "0.0"] {
        assert!(subdomain(good, false).is_empty(), "{good:?}");
    }
    for bad in ["", ".", "a.", ".a", "a..b", "-a", "a-", "A", "a_b", "a b", "ä", "a\n"] {
        assert!(!subdomain(bad, false).is_empty(), "{bad:?}");
    }
    assert!(subdomain("gen-", true).is_empty() && subdomain("a-", true).is_empty());
    assert!(!subdomain("-", true).is_empty());
    assert_eq!(path_segment("..", false), ["may not be '..'"]);
    assert_eq!(path_segment("a/b%", false), ["may not contain '/'", "may not contain '%'"]);
    assert!(path_segment("system:a.B", false).is_empty() && path_segment("..", true).is_empty());
}

#[test]
fn label_keys_and_values_are_refused_as_recorded() {
    let name = "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
    assert_eq!(qualified_name("bad key!"), [name]);
    assert_eq!(qualified_name(""), ["name part must be non-empty", name]);
    assert_eq!(qualified_name("/a"), ["prefix part must be non-empty"]);
    assert_eq!(qualified_name(&"x".repeat(64)), ["name part must be no more than 63 bytes"]);
    assert_eq!(qualified_name("Up/a"), [format!("prefix part {SUBDOMAIN}")]);
    assert!(qualified_name("a/b/c")[0].starts_with("a valid label key must consist of"));
    for good in ["a", "A.b_c-D", "example.com/x", "1/1"] {
        assert!(qualified_name(good).is_empty(), "{good:?}");
    }
    let value = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
    assert_eq!(label_value("bad value!"), [value]);
    assert_eq!(label_value(&"x".repeat(64)), ["must be no more than 63 bytes"]);
    assert!(label_value("").is_empty() && label_value("a.b_C").is_empty());
}

#[test]
fn metadata_is_refused_as_recorded() {
    let owner = |name: &str, uid: &str| json!({"apiVersion": "v1", "kind": "ConfigMap", "name": name, "uid": uid, "controller": true});
    for (metadata, message) in [
        (json!({"namespace": "t"}), "metadata.name: Required value: name or generateName is required"),
        (
            json!({"name": "a", "namespace": "t", "generation": -1}),
            "metadata.generation: Invalid value: -1: must be greater than or equal to 0",
        ),
        (
            json!({"name": "a", "namespace": "t", "annotations": {"k": "x".repeat(256 << 10)}}),
            "metadata.annotations: Too long: may not be more than 262144 bytes",
        ),
        (
            json!({"name": "a", "namespace": "t", "ownerReferences": [{"apiVersion": "v1", "kind": "ConfigMap", "name": "x"}]}),
            "metadata.ownerReferences.uid: Invalid value: \"\": must not be empty",
        ),
        (
            json!({"name": "a", "namespace": "t", "ownerReferences": [owner("x", "1"), owner("y", "2")]}),
            "metadata.ownerReferences: Invalid value: [{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"name\":\"x\",\"uid\":\"1\",\"controller\":true},{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"name\":\"y\",\"uid\":\"2\",\"controller\":true}]: Only one reference can have Controller set to true. Found \"true\" in references for ConfigMap/x and ConfigMap/y",
        ),
        (
            json!({"name": "a", "namespace": "t", "finalizers": ["orphan", "foregroundDeletion"]}),
            "metadata.finalizers: Invalid value: [\"orphan\",\"foregroundDeletion\"]: finalizer orphan and foregroundDeletion cannot be both set",
        ),
        (
            json!({"name": "a", "namespace": "t", "managedFields": [{"operation": "Guess"}]}),
            "metadata.managedFields[0].operation: Unsupported value: \"Guess\": supported values: \"Apply\", \"Update\"",
        ),
    ] {
        assert_eq!(created(&metadata), [message]);
    }
    assert!(created(&json!({"name": "a", "namespace": "t", "annotations": {"Up.com/K": "v"}})).is_empty());
    assert_eq!(
        created(&json!({"name": "a", "namespace": "t", "annotations": {"k": "x".repeat((256 << 10) - 1)}})),
        [""; 0]
    );
    let bad = created(&json!({"name": "Bad_", "generateName": "Bad_", "namespace": "No.", "labels": {"!": "?"}}));
    assert_eq!(bad.len(), 5, "{bad:#?}");
    let cluster = object_meta(&json!({"name": "a", "namespace": "t"}), false, label, &FieldPath::new("metadata"));
    assert_eq!(told(&cluster), ["metadata.namespace: Forbidden: not allowed on this type"]);
    let unqualified =
        standard_finalizers(&json!({"finalizers": ["a/b", "orphan", "not-qualified"]}), &FieldPath::new("metadata"));
    assert_eq!(
        told(&unqualified),
        [
            "metadata.finalizers[2]: Invalid value: \"not-qualified\": name is neither a standard finalizer name nor is it fully qualified"
        ]
    );
}

#[test]
fn wrong_types_in_metadata_do_not_panic() {
    for wrong in [
        json!(null),
        json!([]),
        json!("x"),
        json!({"name": 1, "labels": [], "annotations": {"a": 1}, "finalizers": {}, "ownerReferences": [1]}),
    ] {
        created(&wrong);
        object_meta_update(&wrong, &wrong, &FieldPath::new("metadata"));
        standard_finalizers(&wrong, &FieldPath::new("metadata"));
    }
}

fn updated(new: &Value, old: &Value) -> Vec<String> {
    told(&object_meta_update(new, old, &FieldPath::new("metadata")))
}

#[test]
fn updates_of_metadata_are_refused_as_recorded() {
    let old = json!({"name": "a", "namespace": "t", "uid": "1", "resourceVersion": "5", "generation": 3, "creationTimestamp": "2026-01-02T03:04:05Z"});
    let with = |changes: Value| {
        let mut new = old.clone();
        for (member, value) in changes.as_object().expect("an object of changes") {
            new[member] = value.clone();
        }
        new
    };
    assert_eq!(updated(&old, &old), [""; 0]);
    assert_eq!(
        updated(&with(json!({"labels": {"a": "b"}, "generation": 4, "deletionTimestamp": null})), &old),
        [""; 0]
    );
    for (changes, message) in [
        (
            json!({"resourceVersion": ""}),
            "metadata.resourceVersion: Invalid value: \"\": must be specified for an update",
        ),
        (json!({"generation": 2}), "metadata.generation: Invalid value: 2: must not be decremented"),
        (json!({"uid": "2"}), "metadata.uid: Invalid value: \"2\": field is immutable"),
        (json!({"name": null}), "metadata.name: Invalid value: \"\": field is immutable"),
        (json!({"creationTimestamp": null}), "metadata.creationTimestamp: Invalid value: null: field is immutable"),
        (
            json!({"deletionTimestamp": "2026-01-02T03:04:05Z"}),
            "metadata.deletionTimestamp: Invalid value: \"2026-01-02T03:04:05Z\": field is immutable",
        ),
    ] {
        assert_eq!(updated(&with(changes), &old), [message]);
    }
    let going = with(json!({"deletionTimestamp": "2026-01-02T03:04:06Z", "finalizers": ["example.com/one"]}));
    let mut more = going.clone();
    more["finalizers"] = json!(["example.com/two", "example.com/one", "example.com/three"]);
    assert_eq!(
        updated(&more, &going),
        [
            "metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{\"example.com/three\", \"example.com/two\"}"
        ]
    );
    more["finalizers"] = json!([]);
    assert_eq!(updated(&more, &going), [""; 0]);
}

#[test]
fn new_finalizers_without_a_domain_are_warned_of() {
    let warned = |new: Value, old: Option<Value>| {
        let warnings =
            finalizer_warnings(&json!({"finalizers": new}), old.map(|old| json!({"finalizers": old})).as_ref());
        let names = |warning: String| warning.split('"').nth(1).unwrap_or_default().to_owned();
        warnings.into_iter().map(names).collect::<Vec<_>>()
    };
    assert_eq!(warned(json!(["z", "a.b", "example.com/f", "a.b"]), None), ["a.b", "z"], "in order, each once");
    assert!(warned(json!(["kubernetes", "orphan", "foregroundDeletion", "example.com/f"]), None).is_empty());
    assert_eq!(warned(json!(["a", "b"]), Some(json!(["b", "c"]))), ["a"]);
    assert!(warned(json!(null), None).is_empty() && warned(json!([5]), None).is_empty());
    let text = |name: &str| finalizer_warnings(&json!({"finalizers": [name]}), None).concat();
    let end = " to avoid accidental conflicts with other finalizer writers";
    assert_eq!(text("plain"), format!("metadata.finalizers: \"plain\": prefer a domain-qualified finalizer name{end}"));
    let with_path = "prefer a domain-qualified finalizer name including a path (/)";
    assert_eq!(text("example.com"), format!("metadata.finalizers: \"example.com\": {with_path}{end}"));
}

proptest! {
    #[test]
    fn hand_written_checks_agree_with_the_published_expressions(name in "[aA0._/ -]{0,6}|[a-zA-Z0-9._-]{0,70}") {
        let matches = |pattern: &str| Regex::new(&format!("^(?:{pattern})$")).expect("a pattern").is_match(&name);
        let dns = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
        let subdomain_pattern = format!("{dns}(\\.{dns})*");
        prop_assert_eq!(label(&name, false).is_empty(), matches(dns) && name.len() <= 63);
        prop_assert_eq!(subdomain(&name, false).is_empty(), matches(&subdomain_pattern) && name.len() <= 253);
        let key = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
        prop_assert_eq!(label_value(&name).is_empty(), matches(&format!("({key})?")) && name.len() <= 63);
        let short = name.rsplit('/').next().is_some_and(|n| n.len() <= 63);
        let good = matches(&format!("({subdomain_pattern}/)?{key}")) && short;
        prop_assert_eq!(qualified_name(&name).is_empty(), good);
    }
}
