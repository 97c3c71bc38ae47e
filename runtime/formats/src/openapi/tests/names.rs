//! Tests of names in documents: what is no name is reported where it is, and no document with one is read.
use serde_json::{Value, json};

use super::{GROUP, described, errors, gears, read_all};

/// Texts that would break out of code, paths, folders or lines, or that are no names of the API.
const HOSTILE: [&str; 15] = [
    "v1; pub fn evil() {} mod y",
    "../../../x",
    "..",
    ".",
    "{",
    "a b",
    "a\nb",
    "a\0b",
    "\"",
    "*/",
    "\"\"\"",
    "]]",
    "größe",
    "\u{212a}",
    "-",
];

/// A document of gears in which a text is replaced, in keys and values.
fn replaced(from: &str, to: &str) -> Value {
    let quoted = Value::from(to).to_string();
    let text = gears("VERSION", &json!({"type": "object"}), &json!({})).to_string();
    let text = text.replace(from, &quoted[1..quoted.len() - 1]).replace("VERSION", "v1");
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn what_is_no_name_is_reported_at_its_path() {
    for hostile in HOSTILE {
        // A slash begins another segment of a path, and a parameter or a text with one is no name of a resource.
        let in_paths = [("the version", "VERSION"), ("the group", GROUP), ("the plural", "gears")];
        let in_paths = in_paths.into_iter().filter(|_| !hostile.contains('/'));
        for (what, from) in in_paths.chain([("the kind", "Gear")]) {
            let Err(report) = read_all(&[replaced(from, hostile)]) else { panic!("{what} {hostile:?} is read") };
            let found = report.to_string();
            assert!(found.contains(&format!("{what} is {hostile:?}: ")), "{what} {hostile:?}: {found}");
            assert!(report.0.iter().all(|entry| entry.pointer.starts_with("/paths/")), "{report:?}");
        }
    }
    let found = read_all(&[replaced("Gear", "a/b")]).unwrap_err().to_string();
    assert!(
        found.contains("may have mixed case, but should otherwise match: a DNS-1035 label must consist of"),
        "{found}"
    );
}

#[test]
fn names_of_subresources_and_of_their_documents_are_reported() {
    let mut document = gears("v1", &json!({}), &json!({}));
    let object = format!("/apis/{GROUP}/v1/namespaces/{{namespace}}/gears/{{name}}");
    let turn = json!({"x-kubernetes-action": "post", "x-kubernetes-group-version-kind":
        {"group": "A b", "version": "1\n", "kind": "x/y"}});
    document["paths"][format!("{object}/turn; fn evil() {{}}")] = json!({"post": turn});
    let found = errors(&[document]);
    for expected in [
        "the subresource is \"turn; fn evil() {}\"",
        "the group is \"A b\"",
        "the version of the documents of the subresource \"turn; fn evil() {}\" is \"1\\n\"",
        "the kind of the documents of the subresource \"turn; fn evil() {}\" is \"x/y\"",
    ] {
        assert!(found.iter().any(|found| found.contains(expected)), "{expected}: {found:#?}");
    }
}

#[test]
fn names_of_overlays_and_discovery_are_reported_where_they_are() {
    let gears = gears("v1", &json!({}), &json!({}));
    for hostile in HOSTILE {
        let overlay = json!({"apiVersion": "kindsmith/v1", "kind": "Overlay", "resources": [
            {"resource": "gears.example.com", "singular": hostile, "shortNames": ["g", hostile], "categories": [hostile]}]});
        let found = errors(&[gears.clone(), overlay]);
        let at = "1.json /resources/0";
        for (found, location) in found.iter().zip(["singular", "shortNames/1", "categories/0"]) {
            assert!(
                found.starts_with(&format!("{at}/{location}: ")) && found.contains(&format!("{hostile:?}")),
                "{found}"
            );
        }
        assert_eq!(found.len(), 3, "{found:?}");
        let discovery = json!({"kind": "APIResourceList", "groupVersion": "example.com/v1", "resources": [
            {"name": "gears", "singularName": hostile, "namespaced": true, "kind": "Gear", "verbs": ["get"],
                "shortNames": [hostile], "categories": [hostile]},
            {"name": "others", "singularName": hostile, "namespaced": true, "kind": "Other", "verbs": ["get"]}]});
        let found = errors(&[gears.clone(), discovery]);
        assert_eq!(found.len(), 3, "{found:?}");
        assert!(found.iter().all(|found| found.starts_with("1.json /resources/0/")), "{found:?}");
    }
}

#[test]
fn names_of_the_api_are_read() {
    for version in ["v1", "v1alpha1", "v1-10-0", "mod", "self"] {
        assert_eq!(described(&[gears(version, &json!({}), &json!({}))]).resources.len(), 1);
    }
}

#[test]
fn custom_resources_of_groups_of_kubernetes_are_not_compiled_into_it() {
    for (name, expected) in [
        ("io.k8s.api.core.v1.Pod", true),
        ("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta", true),
        ("io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition", true),
        ("io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.APIService", true),
        ("io.k8s.networking.gateway.v1.Gateway", false),
        ("io.k8s.storage.snapshot.v1.VolumeSnapshot", false),
        ("com.example.v1.Gear", false),
    ] {
        assert_eq!(super::components::is_of_kubernetes(name), expected, "{name}");
    }
}
