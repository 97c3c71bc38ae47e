//! Options compared with recorded answers of kube-apiserver.
use serde_json::{Value, json};

use super::*;
use crate::Revision;

fn query(text: &str) -> Query {
    let pairs = text.split('&').filter(|pair| !pair.is_empty());
    pairs.map(|pair| pair.split_once('=').unwrap_or((pair, ""))).collect()
}

/// The message for the client, after the kind of options.
fn told<T: std::fmt::Debug>(result: Result<T, OptionsError>) -> String {
    match result.expect_err("refused options") {
        OptionsError::BadRequest(message) => format!("400 {message}"),
        OptionsError::Unknown(message) => format!("500 {message}"),
        OptionsError::Invalid(kind, errors) => {
            let all: Vec<String> = errors.iter().map(ToString::to_string).collect();
            format!("422 {kind}: {}", all.join("; "))
        }
    }
}

fn list(text: &str) -> Result<ListOptions, OptionsError> {
    ListOptions::parse(&query(text), false)
}

#[test]
fn resource_versions_are_refused_as_recorded() {
    let unset = "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided";
    let bogus =
        "resourceVersionMatch: Unsupported value: \"Bogus\": supported values: \"Exact\", \"NotOlderThan\", \"\"";
    let requires =
        "resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan";
    let invalid = |causes: &[&str]| format!("422 ListOptions.meta.k8s.io: {}", causes.join("; "));
    let zero = "resourceVersionMatch: Forbidden: resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"";
    for (given, message) in [
        ("resourceVersionMatch=Exact", invalid(&[unset])),
        ("resourceVersionMatch=NotOlderThan&limit=1", invalid(&[unset])),
        ("resourceVersionMatch=Bogus", invalid(&[unset, bogus])),
        ("resourceVersion=0&resourceVersionMatch=Exact", invalid(&[zero])),
        ("resourceVersion=0&resourceVersionMatch=Bogus&limit=1", invalid(&[bogus])),
        ("resourceVersion=7&resourceVersionMatch=Bogus", invalid(&[bogus])),
        ("watch=1&sendInitialEvents=true", invalid(&[requires])),
        (
            "watch=1&resourceVersionMatch=NotOlderThan&resourceVersion=1",
            invalid(&["resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"]),
        ),
        (
            "watch=1&sendInitialEvents=true&resourceVersionMatch=Exact&resourceVersion=1",
            invalid(&[requires, "resourceVersionMatch: Unsupported value: \"Exact\": supported values: \"NotOlderThan\""]),
        ),
        (
            "sendInitialEvents=true&resourceVersionMatch=NotOlderThan",
            invalid(&[unset, "sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list"]),
        ),
        (
            "continue=x&resourceVersionMatch=Exact&resourceVersion=1",
            invalid(&["resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when continue is provided"]),
        ),
        ("continue=x&resourceVersion=5", "400 specifying resource version is not allowed when using continue".to_owned()),
        (
            "resourceVersion=abc",
            "400 invalid resource version: resourceVersion: Invalid value: \"abc\": strconv.ParseUint: parsing \"abc\": invalid syntax".to_owned(),
        ),
        (
            "resourceVersion=-5",
            "400 invalid resource version: resourceVersion: Invalid value: \"-5\": strconv.ParseUint: parsing \"-5\": invalid syntax".to_owned(),
        ),
        (
            "watch=1&resourceVersion=abc",
            "500 resourceVersion: Invalid value: \"abc\": strconv.ParseUint: parsing \"abc\": invalid syntax".to_owned(),
        ),
        ("limit=x", "400 strconv.ParseInt: parsing \"x\": invalid syntax".to_owned()),
        ("limit=", "400 strconv.ParseInt: parsing \"\": invalid syntax".to_owned()),
        ("timeoutSeconds=1e3", "400 strconv.ParseInt: parsing \"1e3\": invalid syntax".to_owned()),
        ("limit=99999999999999999999", "400 strconv.ParseInt: parsing \"99999999999999999999\": value out of range".to_owned()),
        ("fieldSelector=a", "400 invalid selector: 'a'; can't understand 'a'".to_owned()),
        ("labelSelector=a%", "400 unable to parse requirement: <nil>".to_owned()),
    ] {
        let answer = told(list(given));
        assert!(answer.starts_with(&message), "{given}: {answer}");
    }
}

#[test]
fn lists_are_read() {
    let options =
        list("limit=5&continue=tok&timeoutSeconds=-1&allowWatchBookmarks=true&labelSelector=a").expect("good");
    assert_eq!((options.limit, options.continue_token.as_str(), options.timeout_seconds), (5, "tok", Some(-1)));
    assert!(options.bookmarks && !options.watch && !options.labels.is_empty() && options.fields.is_empty());
    assert_eq!(list("limit=-3").expect("good").limit, 0);
    assert_eq!(list("resourceVersion=").expect("good").resource_version, None);
    assert_eq!(list("continue=x&resourceVersion=0").expect("good").resource_version, Some(Revision(0)));
    let exact = list("resourceVersion=12&resourceVersionMatch=Exact").expect("good");
    assert_eq!((exact.resource_version, exact.resource_version_match), (Some(Revision(12)), Some(VersionMatch::Exact)));
    assert!(ListOptions::parse(&query(""), true).expect("an old path").watch);
    for (text, switched) in [
        ("watch", true),
        ("watch=", true),
        ("watch=yes", true),
        ("watch=0", false),
        ("watch=False", false),
        ("", false),
    ] {
        assert_eq!(list(text).expect("good").watch, switched, "{text:?}");
    }
    let initial = list("watch=1&sendInitialEvents=false&resourceVersionMatch=NotOlderThan").expect("good");
    assert_eq!(initial.initial_events, Some(false));
}

#[test]
fn gets_answer_invalid_versions_with_500_like_kube_apiserver() {
    assert_eq!(GetOptions::parse(&query("resourceVersion=7")), Ok(GetOptions { resource_version: Some(Revision(7)) }));
    assert_eq!(GetOptions::parse(&query("")), Ok(GetOptions::default()));
    assert!(
        told(GetOptions::parse(&query("resourceVersion=+1"))).starts_with("500 resourceVersion: Invalid value: \"+1\"")
    );
}

#[test]
fn writes_are_read_and_refused_as_recorded() {
    let create = |text: &str| WriteOptions::for_create(&query(text));
    assert_eq!(create("dryRun="), Ok(WriteOptions::default()));
    assert!(
        create("dryRun=All").expect("good").dry_run && create("dryRun=&dryRun=All&dryRun=All").expect("good").dry_run
    );
    assert_eq!(create("fieldValidation=Strict").expect("good").field_validation, FieldValidation::Strict);
    assert_eq!(create("fieldManager=me").expect("good").field_manager, "me");
    for (given, message) in [
        (
            "dryRun=Some",
            "422 CreateOptions.meta.k8s.io: dryRun: Unsupported value: [\"Some\"]: supported values: \"All\"",
        ),
        (
            "fieldValidation=Loose",
            "422 CreateOptions.meta.k8s.io: fieldValidation: Unsupported value: \"Loose\": supported values: \"\", \"Ignore\", \"Strict\", \"Warn\"",
        ),
        (
            "fieldManager=a\u{7}b",
            "422 CreateOptions.meta.k8s.io: fieldManager: Invalid value: \"a\\ab\": invalid character U+0007 (at position 1)",
        ),
    ] {
        assert_eq!(told(create(given)), message);
    }
    let long = format!("fieldManager={}", "x".repeat(129));
    assert_eq!(
        told(WriteOptions::for_update(&query(&long))),
        "422 UpdateOptions.meta.k8s.io: fieldManager: Too long: may not be more than 128 bytes"
    );
    assert_eq!(
        told(PatchOptions::parse(&query("force=true"), false)),
        "422 PatchOptions.meta.k8s.io: force: Forbidden: may not be specified for non-apply patch"
    );
    assert_eq!(
        told(PatchOptions::parse(&query(""), true)),
        "422 PatchOptions.meta.k8s.io: fieldManager: Required value: is required for apply patch"
    );
    assert!(PatchOptions::parse(&query("force=1&fieldManager=x"), true).expect("good").force);
}

#[expect(clippy::needless_pass_by_value, reason = "calls read better")]
fn delete(text: &str, body: Option<Value>) -> Result<DeleteOptions, OptionsError> {
    DeleteOptions::parse(&query(text), body.as_ref())
}

#[test]
fn deletions_are_read_from_the_query_or_the_body() {
    let options = delete("propagationPolicy=Orphan&gracePeriodSeconds=3&dryRun=All", None).expect("good");
    assert_eq!(
        (options.propagation, options.grace_period_seconds, options.dry_run),
        (Some(Propagation::Orphan), Some(3), true)
    );
    assert_eq!(delete("dryRun=All", Some(json!({}))), Ok(DeleteOptions::default()), "a body replaces the query");
    let body = json!({"kind": "DeleteOptions", "apiVersion": "v1", "dryRun": ["All"], "preconditions": {"uid": "u", "resourceVersion": "5"}, "gracePeriodSeconds": null});
    let options = delete("", Some(body)).expect("good");
    assert_eq!(options.preconditions, Preconditions { uid: Some("u".into()), resource_version: Some("5".into()) });
    assert!(options.dry_run);
    let old = |orphan: bool| delete("", Some(json!({"orphanDependents": orphan}))).expect("good").propagation;
    assert_eq!((old(true), old(false)), (Some(Propagation::Orphan), Some(Propagation::Background)));
    assert_eq!(delete("", None).expect("good").propagation, None);
}

#[test]
fn deletions_are_refused_as_recorded() {
    let unsupported = "422 DeleteOptions.meta.k8s.io: propagationPolicy: Unsupported value: \"Sideways\": supported values: \"Foreground\", \"Background\", \"Orphan\", \"nil\"";
    assert_eq!(told(delete("", Some(json!({"propagationPolicy": "Sideways"})))), unsupported);
    assert_eq!(told(delete("propagationPolicy=Sideways", None)), unsupported);
    assert_eq!(
        told(delete("", Some(json!({"propagationPolicy": "Orphan", "orphanDependents": true})))),
        "422 DeleteOptions.meta.k8s.io: propagationPolicy: Invalid value: \"Orphan\": orphanDependents and deletionPropagation cannot be both set"
    );
    assert_eq!(
        told(delete("", Some(json!({"dryRun": ["Some"]})))),
        "422 DeleteOptions.meta.k8s.io: dryRun: Unsupported value: [\"Some\"]: supported values: \"All\""
    );
    assert_eq!(told(delete("gracePeriodSeconds=x", None)), "400 strconv.ParseInt: parsing \"x\": invalid syntax");
    for bad in
        [json!([]), json!("x"), json!({"gracePeriodSeconds": "x"}), json!({"kind": "Pod"}), json!({"dryRun": "All"})]
    {
        assert!(told(delete("", Some(bad.clone()))).starts_with("400 "), "{bad}");
    }
}

#[test]
fn forced_deletion_excludes_other_options() {
    let force = "ignoreStoreReadErrorWithClusterBreakingPotential";
    assert!(delete("", Some(json!({force: true}))).expect("good").ignore_read_errors);
    assert!(delete(&format!("{force}=true"), None).expect("good").ignore_read_errors);
    for options in [delete("", Some(json!({force: false, "gracePeriodSeconds": 1}))), delete("", Some(json!({})))] {
        assert!(!options.expect("good").ignore_read_errors);
    }
    let with = |name: &str, value: Value| told(delete("", Some(json!({force: true, name: value}))));
    for (name, value) in [
        ("dryRun", json!(["All"])),
        ("propagationPolicy", json!("Orphan")),
        ("orphanDependents", json!(false)),
        ("gracePeriodSeconds", json!(0)),
        ("preconditions", json!({})),
    ] {
        let refused =
            format!("422 DeleteOptions.meta.k8s.io: {force}: Invalid value: true: cannot be set together with .{name}");
        assert_eq!(with(name, value), refused);
    }
    assert_eq!(
        told(DeleteOptions::for_collection(&query(&format!("{force}=1")), None)),
        format!(
            "422 DeleteOptions.meta.k8s.io: {force}: Invalid value: true: is not allowed with DELETECOLLECTION, try again after removing the option"
        )
    );
}

#[test]
fn single_options_must_not_be_repeated() {
    let repeated = |name: &str, value: &str| query(&format!("{name}={value}&x=1&{name}={value}"));
    let refused = |name: &str| format!("400 the query parameter {name:?} may be given only once");
    for (name, value) in [
        ("labelSelector", "a"),
        ("fieldSelector", "metadata.name=a"),
        ("watch", "1"),
        ("allowWatchBookmarks", "1"),
        ("timeoutSeconds", "1"),
        ("limit", "1"),
        ("continue", "x"),
        ("sendInitialEvents", "1"),
        ("resourceVersion", "1"),
        ("resourceVersionMatch", "Exact"),
    ] {
        assert_eq!(told(ListOptions::parse(&repeated(name, value), false)), refused(name));
    }
    assert_eq!(told(GetOptions::parse(&repeated("resourceVersion", "1"))), refused("resourceVersion"));
    for (name, value) in [("fieldManager", "me"), ("fieldValidation", "Strict")] {
        assert_eq!(told(WriteOptions::for_create(&repeated(name, value))), refused(name));
        assert_eq!(told(WriteOptions::for_update(&repeated(name, value))), refused(name));
        assert_eq!(told(PatchOptions::parse(&repeated(name, value), false)), refused(name));
    }
    assert_eq!(told(PatchOptions::parse(&repeated("force", "1"), true)), refused("force"));
    let force = "ignoreStoreReadErrorWithClusterBreakingPotential";
    for (name, value) in
        [("gracePeriodSeconds", "1"), ("propagationPolicy", "Orphan"), ("orphanDependents", "1"), (force, "1")]
    {
        assert_eq!(told(DeleteOptions::parse(&repeated(name, value), None)), refused(name));
    }
}
