//! Tests of what is read beside OpenAPI documents: discovery and overlays.
use serde_json::{Value, json};

use super::{GROUP, described, errors, gears};
use crate::{
    kind::{
        CellMeter, Changes,
        endpoint::Verb,
        model::{Cell, NameRule, Path},
    },
    openapi::{Described, Resource},
};

fn gear(documents: &[Value]) -> Resource {
    let mut all = vec![gears("v1", &json!({"type": "object"}), &json!({})), gears("v1beta1", &json!({}), &json!({}))];
    all.extend_from_slice(documents);
    described(&all).resources.remove(0)
}

fn aggregated(resource: &Value) -> Value {
    json!({"kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "items": [
        {"metadata": {"name": GROUP}, "versions": [{"version": "v1", "resources": [resource]}]}]})
}

fn discovered(name: &str) -> Value {
    json!({"resource": name, "responseKind": {"group": "", "version": "", "kind": "Gear"}, "scope": "Namespaced",
        "singularResource": "cog", "verbs": ["get", "list", "proxy"], "shortNames": ["gr"], "categories": ["all"]})
}

#[test]
fn discovery_says_short_names_categories_the_singular_and_verbs() {
    let list = json!({"kind": "APIResourceList", "groupVersion": format!("{GROUP}/v1"), "resources": [
        {"name": "gears", "singularName": "cog", "namespaced": true, "kind": "Gear", "verbs": ["get", "list"],
            "shortNames": ["gr"], "categories": ["all"]},
        {"name": "gears/status", "singularName": "", "namespaced": true, "kind": "Gear", "verbs": ["get"]}]});
    for document in [aggregated(&discovered("gears")), list] {
        let definition = gear(&[document]).definition;
        let names = &definition.shared.names;
        assert_eq!(
            (&*names.singular, &*names.short_names, &*names.categories),
            ("cog", &["gr".to_owned()][..], &["all".to_owned()][..])
        );
        assert_eq!(definition.versions[0].verbs, Some(vec![Verb::Get, Verb::List]));
        assert_eq!(definition.versions[1].verbs, None, "that of another version");
    }
}

#[test]
fn discovery_that_does_not_fit_is_reported() {
    let document = || gears("v1", &json!({"type": "object"}), &json!({}));
    let mut other = discovered("gears");
    other["scope"] = json!("Cluster");
    let found = errors(&[document(), aggregated(&other)]);
    let at = "/items/0/versions/0/resources/0";
    assert_eq!(
        found,
        [format!(
            "1.json {at}: found the kind Gear with the scope Cluster; the OpenAPI document has Gear and Namespaced"
        )]
    );
    let Described { warnings, .. } = described(&[document(), aggregated(&discovered("wheels"))]);
    let warned: Vec<_> = warnings.0.iter().map(|entry| format!("{} {}", entry.pointer, entry.message)).collect();
    let unused = format!("{at} wheels of {GROUP}/v1 is not served: no OpenAPI document describes it");
    assert_eq!(warned, [format!("{at}/verbs the verb \"proxy\" is not served"), unused]);
}

fn overlay(entry: &Value) -> Value {
    json!({"apiVersion": "kindsmith/v1", "kind": "Overlay", "resources": [entry]})
}

#[test]
fn an_overlay_says_what_documents_do_not() {
    let mut document = gears("v1", &json!({"type": "object"}), &json!({}));
    let of = json!({"200": {"content": {"*/*": {"schema": {"$ref": "#/components/schemas/com.example.v1.Gear"}}}}});
    let path = format!("/apis/{GROUP}/v1/namespaces/{{namespace}}/gears/{{name}}/approval");
    document["paths"][path] = json!({"get": {"x-kubernetes-action": "get", "responses": of,
        "x-kubernetes-group-version-kind": {"group": GROUP, "version": "v1", "kind": "Gear"}}});
    let described = described(&[
        document,
        overlay(&json!({
        "resource": format!("gears.{GROUP}"), "versions": ["v1"], "singular": "cog", "shortNames": ["gr"],
        "categories": ["all"], "nameRule": "PathSegment", "generation": false,
        "statusOnCreate": true, "deprecated": "Use v2", "changes": {"approval": ".status"},
        "selectableFields": [".spec.size"], "columns": [
            {"name": "Ready", "type": "string", "cell": "ratio(.status.ready, .spec.size)"},
            {"name": "Size", "type": "integer", "format": "int32", "priority": 1, "cell": ".spec.size", "description": "S."},
            {"name": "First", "type": "string", "cell": ".spec.parts[0].name"}]})),
    ]);
    let definition = &described.resources[0].definition;
    assert_eq!((&*definition.shared.names.singular, definition.shared.name_rule), ("cog", NameRule::PathSegment));
    assert_eq!(definition.shared.names.short_names, ["gr"]);
    let version = &definition.versions[0];
    assert_eq!((version.generation, &version.selectable), (false, &vec![Path::from("spec.size")]));
    assert_eq!((version.status_on_create, version.deprecated.as_deref()), (true, Some("Use v2")));
    assert_eq!(version.subresources[0].changes, Changes::Only(Path::from("status")));
    let [ready, size, first] = &version.columns[..] else { panic!("three columns") };
    let Cell::Call(call) = &ready.cell else { panic!("a call") };
    assert_eq!(call.of(&json!({"status": {"ready": 1}, "spec": {"size": 2}}), &CellMeter::of(0)), json!("1/2"));
    assert_eq!((&size.cell, size.priority, &*size.format), (&Cell::Path(Path::from("spec.size")), 1, "int32"));
    assert!(matches!(first.cell, Cell::JsonPath(_)) && size.description == "S.");
    assert_eq!(described.overlays.len(), 1);
}

#[test]
fn an_entry_for_another_resource_or_version_changes_nothing() {
    let plain = gear(&[]).definition;
    let columns = json!([{"name": "Size", "type": "integer", "cell": ".spec.size"}]);
    for (resource, version) in [("gears", "v1"), ("wheels.example.com", "v1"), ("gears.example.com", "v3")] {
        let entry = json!({"resource": resource, "versions": [version], "columns": columns});
        assert_eq!(gear(&[overlay(&entry)]).definition, plain, "{resource} {version}");
    }
}

#[test]
fn everything_wrong_in_an_overlay_is_reported_at_once() {
    let mut document = overlay(&json!({"nameRule": "Any", "selectableFields": [".a[0]"], "generation": 1, "columns": [
        {"type": "text", "cell": "ready"}]}));
    document["apiVersion"] = json!("v2");
    let mut found = errors(&[document]);
    found.sort();
    let at = "0.json /resources/0";
    assert_eq!(
        found,
        [
            "0.json /apiVersion: found \"v2\"; supported: kindsmith/v1".to_owned(),
            format!("{at}/columns/0/cell: found \"ready\"; supported: a JSONPath, or function(argument, …)"),
            format!("{at}/columns/0/name: missing: the header of the column"),
            format!("{at}/columns/0/type: found \"text\"; supported: boolean, date, integer, number, string"),
            format!("{at}/generation: expected true or false, found 1"),
            format!("{at}/nameRule: found \"Any\"; supported: Label, PathSegment, Subdomain"),
            format!("{at}/resource: missing; supported: <plural>.<group>, or <plural> in the core group"),
            format!("{at}/selectableFields/0: found \".a[0]\"; supported: a path of fields, such as .spec.size"),
        ]
    );
}

#[test]
fn an_overlay_has_objects_that_can_be_found() {
    let object = json!({"apiVersion": "v1", "kind": "Gear", "metadata": {"name": "first"}, "spec": {"teeth": 12}});
    let overlay = |objects: Value| json!({"apiVersion": "kindsmith/v1", "kind": "Overlay", "objects": objects});
    let document = || gears("v1", &json!({"type": "object"}), &json!({}));
    let read = described(&[document(), overlay(json!([object.clone()]))]);
    assert_eq!(read.overlays[0].objects(), [object]);
    let wrong = json!(["gear", {"kind": "Gear", "metadata": {"name": ""}}, {"apiVersion": "v1", "kind": "Gear"}]);
    let found = errors(&[document(), overlay(wrong)]);
    let lacks = "missing: an object has apiVersion, kind and metadata.name";
    let at = |pointer: &str, what: &str| format!("1.json /objects/{pointer}: {what}");
    let expected = [at("1/apiVersion", lacks), at("1/metadata/name", lacks), at("2/metadata/name", lacks)];
    assert_eq!(found[1..], expected, "{found:?}");
    assert!(found[0].starts_with("1.json /objects/0: "), "{found:?}");
}
