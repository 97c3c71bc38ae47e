//! Tests of API descriptions: they say what the documents said from which they were written.
use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{GROUP, described, gears, read_all};
use crate::{
    meta::GroupResource,
    openapi::{Descriptions, Source, describe},
};

const KIND: &str = "x-kubernetes-group-version-kind";

/// Gears with a subresource that connects, one with a document of its own, and query parameters.
fn document() -> Value {
    let spec = json!({"type": "object", "properties": {
        "description": {"type": "string", "description": "A field of this name."},
        "shape": {"$ref": "#/components/schemas/com.example.Shape"}}});
    let turn = json!({"type": "object", "description": "A turn.", "properties": {"by": {"type": "integer"}},
        KIND: [{"group": GROUP, "version": "v1", "kind": "Turn"}]});
    let unused = json!({"type": "object"});
    let options = json!({"type": "object", KIND: [{"group": GROUP, "version": "v1", "kind": "DeleteOptions"},
        {"group": "", "version": "v1", "kind": "DeleteOptions"}]});
    let mut document = gears(
        "v1",
        &spec,
        &json!({"com.example.Shape": {"type": "object", "description": "A shape.", "properties": {"round": {"type": "boolean"}}},
            "com.example.v1.Turn": turn, "com.example.Unused": unused, "com.example.DeleteOptions": options}),
    );
    let of = |name: &str| json!({"application/json": {"schema": {"$ref": format!("#/components/schemas/com.example.{name}")}}});
    let object = format!("/apis/{GROUP}/v1/namespaces/{{namespace}}/gears/{{name}}");
    document["paths"][format!("{object}/turn")] = json!({"post": {
        "x-kubernetes-action": "post", KIND: {"group": GROUP, "version": "v1", "kind": "Turn"},
        "requestBody": {"content": of("v1.Turn")}, "responses": {"200": {"content": of("v1.Gear")}}},
        "delete": {"x-kubernetes-action": "delete", "requestBody": {"content": of("DeleteOptions")}}});
    document["paths"][format!("{object}/touch")] = json!({"get": {
        "x-kubernetes-action": "connect",
        "parameters": [{"in": "query", "name": "how", "description": "How.", "schema": {"type": "string"}}]}});
    document["paths"][format!("{object}/touch/{{path}}")] = json!({"get": {"x-kubernetes-action": "connect"}});
    document
}

fn texts(documents: &[Value], except: &[&str], descriptions: Descriptions) -> Result<Vec<String>, String> {
    let texts: Vec<String> = documents.iter().map(Value::to_string).collect();
    let sources: Vec<_> = texts.iter().map(|text| Source::new("gears.json", text.as_bytes())).collect();
    let except: BTreeSet<_> =
        except.iter().map(|name| GroupResource { group: GROUP.to_owned(), resource: (*name).to_owned() }).collect();
    describe(&sources, &except, descriptions).map_err(|report| report.to_string())
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn a_description_says_what_documents_and_discovery_say() {
    let mut second = gears("v1beta1", &json!({"type": "object"}), &json!({}));
    second["paths"][format!("/apis/{GROUP}/v1beta1/namespaces/{{namespace}}/gears")]["get"]["deprecated"] = json!(true);
    let discovery = json!({"kind": "APIResourceList", "groupVersion": format!("{GROUP}/v1"), "resources": [
        {"name": "gears", "singularName": "cog", "namespaced": true, "kind": "Gear", "verbs": ["get", "list", "watch"],
            "shortNames": ["gr"], "categories": ["all"]}]});
    let documents = [document(), second, discovery];
    let [text] = &texts(&documents, &[], Descriptions::Keep).unwrap()[..] else { panic!("one description") };
    let (by_documents, by_description) = (described(&documents), described(&[parsed(text)]));
    let definitions =
        |of: &crate::openapi::Described| of.resources.iter().map(|one| one.definition.clone()).collect::<Vec<_>>();
    assert_eq!(definitions(&by_description), definitions(&by_documents));
    assert!(by_description.warnings.0.is_empty(), "{}", by_description.warnings);
    assert!(!text.contains("com.example.Unused"), "no resource needs it");
    // Written again, it is the same.
    assert_eq!(texts(&[parsed(text)], &[], Descriptions::Keep).unwrap(), std::slice::from_ref(text));
}

#[test]
fn descriptions_for_people_can_be_left_out() {
    let [text] = &texts(&[document()], &[], Descriptions::Omit).unwrap()[..] else { panic!("one description") };
    let written = parsed(text);
    let gear = &written["components"]["schemas"]["com.example.v1.Gear"];
    assert_eq!(gear["properties"]["spec"]["properties"]["description"], json!({"type": "string"}), "a field stays");
    for sentence in ["A gear.", "A turn.", "A shape.", "A field of this name.", "How."] {
        assert!(!text.contains(sentence), "{sentence}");
    }
}

#[test]
fn schemas_that_differ_are_in_descriptions_of_their_own() {
    let other = |schema: Value| {
        let mut other = gears(
            "v1",
            &json!({"$ref": "#/components/schemas/com.example.Shape"}),
            &json!({"com.example.Shape": schema}),
        );
        other = parsed(&other.to_string().replace("gears", "wheels").replace("Gear", "Wheel"));
        other
    };
    let same = json!({"type": "object", "description": "A shape.", "properties": {"round": {"type": "boolean"}}});
    assert_eq!(texts(&[document(), other(same)], &[], Descriptions::Keep).unwrap().len(), 1);
    let different = other(json!({"type": "string"}));
    let texts = texts(&[document(), different], &[], Descriptions::Keep).unwrap();
    assert_eq!(texts.len(), 2);
    assert_eq!(described(&texts.iter().map(|text| parsed(text)).collect::<Vec<_>>()).resources.len(), 2);
}

#[test]
fn options_of_all_groups_are_of_each_that_a_document_names() {
    let mut other = parsed(&document().to_string().replace("gears", "wheels").replace("Gear", "Wheel"));
    let kinds = &mut other["components"]["schemas"]["com.example.DeleteOptions"][KIND];
    kinds[1] = json!({"group": "other.example.com", "version": "v1", "kind": "DeleteOptions"});
    let [text] = &texts(&[document(), other], &[], Descriptions::Keep).unwrap()[..] else { panic!("one description") };
    let written = parsed(text);
    assert_eq!(written["components"]["schemas"]["com.example.DeleteOptions"][KIND].as_array().unwrap().len(), 3);
}

#[test]
fn resources_may_be_left_out_and_are_described_once() {
    assert!(texts(&[document()], &["gears"], Descriptions::Keep).unwrap().is_empty());
    let error = texts(&[document(), document()], &[], Descriptions::Keep).unwrap_err();
    assert!(error.contains("gears of example.com/v1 is in another document, too"), "{error}");
}

#[test]
fn what_is_wrong_in_a_description_is_reported_where_it_is() {
    let gear = json!({"resource": format!("gears.{GROUP}"), "version": "v1", "kind": "Gear", "scope": "Namespaced", "verbs": ["get"]});
    let changed = |pointer: &str, value: Value| {
        let mut all = json!({"apiVersion": "kindsmith/v1", "kind": "APIDescription", "resources": [gear],
            "components": {"schemas": {"com.example.v1.Gear": {"type": "object",
                KIND: [{"group": GROUP, "version": "v1", "kind": "Gear"}]}}}});
        let (parent, name) = pointer.rsplit_once('/').unwrap();
        all.pointer_mut(parent).unwrap()[name] = value;
        read_all(&[all]).map(|described| described.warnings.to_string()).map_err(|report| report.to_string())
    };
    assert_eq!(changed("/apiVersion", json!("kindsmith/v1")), Ok(String::new()));
    let operation = |operation: Value| json!({"turn": {"operations": [operation]}});
    for (pointer, value, message) in [
        ("/apiVersion", json!("kindsmith/v2"), "found \"kindsmith/v2\"; supported: kindsmith/v1"),
        ("/resources/0/resource", json!(""), "/resources/0/resource: missing"),
        ("/resources/0/version", json!(""), "/resources/0/version: missing"),
        ("/resources/0/version", json!("v1; pub fn evil() {}"), "v1; pub fn evil() {}"),
        ("/resources/0/resource", json!("a/b.example.com"), "a/b"),
        ("/resources/0/scope", json!("Everywhere"), "found \"Everywhere\"; supported: Cluster, Namespaced"),
        ("/resources/0/verbs", json!(["get", "make"]), "/resources/0/verbs/1: found \"make\"; supported: create"),
        ("/resources/0/subresources", operation(json!({"verb": "make"})), "/operations/0/verb: found \"make\""),
        (
            "/resources/0/subresources",
            operation(json!({"verb": "patch", "patchTypes": ["x"]})),
            "found \"x\"; supported: application/",
        ),
        ("/resources/0/kind", json!("Wheel"), "no schema says that it is the kind's"),
    ] {
        let error = changed(pointer, value.clone()).expect_err(pointer);
        assert!(error.contains(message), "{pointer} {value}: {error}");
    }
    let warning = changed("/resources/0/colour", json!("red")).unwrap();
    assert!(warning.contains("\"colour\" is not read; supported here: categories"), "{warning}");
}
