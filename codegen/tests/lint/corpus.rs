//! Definitions of other projects, and the API of Kubernetes: the violations that are there, and no others.
use std::{collections::BTreeMap, io::Write as _, path::PathBuf};

use serde_json::Value;

use crate::lint;

/// A folder of the corpus. Where it is missing, `None`, which standard error says even if the test passes, or in CI a failure.
fn corpus(path: &str) -> Option<PathBuf> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared/corpus").join(path);
    if path.exists() {
        return Some(path);
    }
    assert!(std::env::var_os("CI").is_none_or(|ci| ci != "true"), "{} is missing", path.display());
    // Not `eprintln!`, whose output is shown only of tests that fail.
    writeln!(std::io::stderr(), "NOT RUN: {} is missing", path.display()).expect("standard error");
    None
}

/// The findings as `Kind .path rule`, and how many there are of each rule.
fn found(path: &str) -> Option<(Vec<String>, BTreeMap<String, u64>)> {
    let folder = corpus(path)?;
    let (code, out, _) = lint(&folder, &[".", "--format", "json"]);
    assert_eq!(code, 1, "the corpus has errors");
    let document: Value = serde_json::from_str(&out).unwrap();
    let text = |finding: &Value, name: &str| finding[name].as_str().unwrap().to_owned();
    let findings = document["findings"].as_array().unwrap().iter();
    let findings = findings.map(|of| format!("{} {} {}", text(of, "kind"), text(of, "path"), text(of, "rule")));
    let counts = document["counts"].as_object().unwrap().iter();
    Some((findings.collect(), counts.map(|(rule, count)| (rule.clone(), count.as_u64().unwrap())).collect()))
}

fn assert_found(findings: &[String], expected: &[&str]) {
    let missing: Vec<_> =
        expected.iter().filter(|expected| !findings.iter().any(|found| found == **expected)).collect();
    assert!(missing.is_empty(), "{missing:#?} is not among {findings:#?}");
}

#[test]
fn definitions_of_other_projects_have_the_violations_that_a_reader_sees() {
    let Some((findings, counts)) = found("crd") else { return };
    assert_found(
        &findings,
        &[
            // v1alpha2 declares no subresources.
            "GRPCRoute .status status-without-subresource",
            "HTTPRoute .spec.rules[].filters[].requestRedirect.statusCode integer-without-width",
            "HTTPRoute .spec.rules[].filters[].requestRedirect.scheme enum-value-case",
            // One of three types must be one of these three.
            "HTTPRoute .spec.rules[].matches[].path expression-always-true",
            "Certificate .spec.isCA bool-named-is",
            "Certificate .spec.duration duration-as-text",
            "Certificate .spec.usages[] enum-value-case",
            "Certificate .spec.keystores.jks.password secret-in-spec",
            // The column TLS has shown nothing since it was added.
            "Route .spec.tls.type column-of-nothing",
            "Route .spec.tls.key secret-in-spec",
            "Route .spec.to.kind required-with-default",
        ],
    );
    // The group of the Gateway API is approved, by an annotation. Names of X.509 are what they are.
    let wrong =
        ["reserved-group", "time-name"].map(|rule| findings.iter().filter(|found| found.ends_with(rule)).count());
    assert_eq!(wrong, [1, 0], "{findings:#?}");
    assert_eq!(counts["list-without-type"], 9);
    assert!((40..=60).contains(&findings.len()), "{findings:#?}");
}

#[test]
fn the_api_of_kubernetes_has_its_historical_violations_once_for_each_type() {
    let Some((findings, counts)) = found("kubernetes") else { return };
    assert_found(
        &findings,
        &[
            "Endpoints  kind-plural",
            "ReplicationController  kind-controller",
            "Node .status.daemonEndpoints.kubeletEndpoint.Port field-name-case",
            "Pod .status.phase phase",
            "CronJob .status.active references-in-status",
            "Event .firstTimestamp time-named-stamp",
            "Event .involvedObject reference-name",
            "PersistentVolume .status status-without-conditions",
            "ResourceSlice .spec.devices[].capacity map-of-objects",
            "CustomResourceDefinition .spec.versions[].schema.openAPIV3Schema.maximum float-in-spec",
            "StatefulSet .spec.serviceName optional-without-omission",
            "ReplicaSet .status.replicas required-in-status",
        ],
    );
    // All five phases of the core group are in the text as what not to do.
    assert_eq!((counts["phase"], counts["float-in-spec"], counts["field-name-case"]), (5, 3, 1));
    assert!((25..=35).contains(&counts["optional-without-omission"]), "{counts:?}");
    // The documents do not publish all that Go's types declare.
    let unknown = [
        "no-columns",
        "scale-without-selector",
        "unbounded-int64",
        "list-without-type",
        "reserved-group",
        "acronym-case",
    ];
    assert!(unknown.iter().all(|rule| !counts.contains_key(*rule)), "{counts:?}");
    assert!((110..=180).contains(&findings.len()), "{}", findings.len());
}
