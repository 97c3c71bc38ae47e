//! Types that groups share, types that contain themselves, numbers, and what Rust does not say of OpenAPI documents.
use std::{collections::BTreeSet, fs, path::PathBuf};

use kindsmith_codegen::{Builder, GeneratedCode};
use kindsmith_tests::Folder;
use serde_json::{Value, json};

/// A document of the kind Gear in a group, with a further schema.
fn document(group: &str, more: &Value) -> Value {
    let operation = |action: &str| {
        json!({"x-kubernetes-action": action,
            "x-kubernetes-group-version-kind": {"group": group, "version": "v1", "kind": "Gear"}})
    };
    let mut list = operation("list");
    list["parameters"] = json!([{"in": "query", "name": "watch", "schema": {"type": "boolean"}}]);
    let collection = format!("/apis/{group}/v1/namespaces/{{namespace}}/gears");
    let object = json!({"get": operation("get"), "put": operation("put"), "patch": operation("patch"),
        "delete": operation("delete")});
    let part = json!({"type": "object", "description": "A part.", "properties": {
        "teeth": {"type": "integer", "format": "int32", "description": "How many teeth."},
        "next": {"$ref": "#/components/schemas/com.example.Part"}}});
    let gear = json!({"type": "object", "description": "A gear.",
        "x-kubernetes-group-version-kind": [{"group": group, "version": "v1", "kind": "Gear"}],
        "properties": {"apiVersion": {"type": "string"}, "kind": {"type": "string"}, "metadata": {"type": "object"},
            "spec": {"type": "object", "description": "The spec.", "properties": {
                "part": {"$ref": "#/components/schemas/com.example.Part"},
                "condition": {"$ref": "#/components/schemas/com.example.wear.v1.Condition"}}}}});
    let condition = json!({"type": "object", "description": "How worn it is.",
        "properties": {"wear": {"type": "integer", "format": "int64", "description": "In percent."}}});
    let mut paths = json!({});
    paths[&collection] = json!({"get": list, "post": operation("post"), "delete": operation("deletecollection")});
    paths[format!("{collection}/{{name}}")] = object;
    paths[format!("{collection}/{{name}}/turn")] = json!({"post": operation("post")});
    let mut document = json!({"openapi": "3.0.0", "info": {"title": "gears", "version": "1"}, "paths": paths,
        "components": {"schemas": {"com.example.Part": part, "com.example.wear.v1.Condition": condition}}});
    document["components"]["schemas"][format!("com.{}.v1.Gear", group.replace('.', "-"))] = gear;
    for (name, schema) in more.as_object().into_iter().flatten() {
        document["components"]["schemas"][name] = schema.clone();
    }
    document
}

/// The files of documents and others, by name.
fn files(folder: &Folder, files: &[(&str, String)]) -> Vec<PathBuf> {
    let write = |(name, text): &(&str, String)| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path
    };
    files.iter().map(write).collect()
}

fn builder(paths: Vec<PathBuf>) -> Builder {
    paths.into_iter().fold(Builder::new(), Builder::file)
}

fn text(generated: &GeneratedCode, path: &str) -> String {
    generated.files.iter().find(|file| file.path.ends_with(path)).unwrap().text.clone()
}

fn two_groups() -> [(&'static str, String); 2] {
    ["mill.example.com", "clock.example.com"].map(|group| (&group[..4], document(group, &json!({})).to_string()))
}

#[test]
fn a_type_with_a_name_is_written_once_and_imported_by_other_groups() {
    let folder = Folder::new("generated");
    let generated = builder(files(&folder, &two_groups())).features().generate().unwrap();
    let (first, second) = (text(&generated, "clock/v1.rs"), text(&generated, "mill/v1.rs"));
    assert!(first.contains("pub struct Part {") && !second.contains("struct Part"), "{second}");
    assert!(second.contains("use super::super::clock::v1::{"), "{second}");
    // The name of a type of kindsmith is not taken.
    assert!(first.contains("pub struct WearCondition {") && second.contains("Option<WearCondition>"), "{first}");
    let root = text(&generated, "mod.rs");
    let root =
        generated.files.iter().find(|file| file.path.components().count() == 1).map_or(root, |of| of.text.clone());
    assert!(root.contains("#[cfg(any(feature = \"clock\", feature = \"mill\"))]"), "{root}");
    assert!(root.contains("#[cfg(feature = \"mill\")]"), "{root}");
}

#[test]
fn what_the_derive_does_not_say_of_a_document_is_a_warning_with_its_place() {
    let folder = Folder::new("generated");
    let mut document = document("mill.example.com", &json!({}));
    let object = "/apis/mill.example.com/v1/namespaces/{namespace}/gears/{name}";
    document["paths"][object].as_object_mut().unwrap().remove("put");
    let generated = builder(files(&folder, &[("mill.json", document.to_string())])).generate().unwrap();
    let made = text(&generated, "mill/v1.rs");
    assert!(made.contains("pub next: Option<RawJson>"));
    assert!(made.contains("#[resource(verbs(create, delete, deletecollection, get, list, patch, watch))]"), "{made}");
    let warnings: Vec<_> = generated.warnings.iter().map(ToString::to_string).collect();
    let expected = [
        "Gear, schema: the subresource turn is left out; supported: status, scale, and handlers in Rust",
        "Gear, schema/properties/spec/properties/part/properties/next: kept as raw JSON: found a type that contains itself; \
         supported: schemas that end",
    ];
    assert_eq!(warnings.len(), expected.len(), "{warnings:#?}");
    for expected in expected {
        let (place, _) = expected.split_once(": ").unwrap();
        let found = warnings.iter().any(|warning| warning.contains("mill.json: ") && warning.contains(place));
        assert!(found, "{expected}\n{warnings:#?}");
    }
}

#[test]
fn numbers_of_messages_beside_a_document_are_those_of_the_fields() {
    let folder = Folder::new("generated");
    let messages = "syntax = \"proto3\";\npackage com.example.wear.v1;\nmessage Condition { int64 wear = 7; }\n";
    let all = [two_groups()[0].clone(), ("wear.proto", messages.to_owned())];
    let generated = builder(files(&folder, &all)).generate().unwrap();
    let text = text(&generated, "mill/v1.rs");
    assert!(text.contains("#[api(proto = 7, proto_zero)]\n    pub wear: Option<i64>"), "{text}");
}

#[test]
fn that_one_field_of_a_union_is_set_is_a_rule_of_the_kind() {
    let folder = Folder::new("generated");
    let union = json!({"type": "object", "oneOf": [{"required": ["round"]}, {"required": ["square"]}],
        "properties": {"round": {"type": "string"}, "square": {"type": "string"}}});
    let document = document("mill.example.com", &json!({"com.example.Part": union})).to_string();
    let generated = builder(files(&folder, &[("mill.json", document)])).generate().unwrap();
    let made = text(&generated, "mill/v1.rs");
    assert!(made.contains(r#"one_of = [{"required":["round"]}, {"required":["square"]}]"#), "{made}");
}

#[test]
fn a_resource_that_two_files_define_is_refused() {
    let folder = Folder::new("generated");
    let manifest = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: gears.mill.example.com}\n\
        spec:\n  group: mill.example.com\n  scope: Namespaced\n  names: {plural: gears, singular: gear, kind: Gear, listKind: GearList}\n\
        \x20 versions:\n  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}\n";
    let all = [two_groups()[0].clone(), ("gears.yaml", manifest.to_owned())];
    let error = builder(files(&folder, &all)).generate().unwrap_err().to_string();
    assert!(
        error.starts_with("gears.mill.example.com is defined in ") && error.contains("gears.yaml and in "),
        "{error}"
    );
}

#[test]
fn keys_that_items_may_lack_and_selectors_with_defaults_are_those_of_the_document() {
    let folder = Folder::new("generated");
    let mut document = document("mill.example.com", &json!({}));
    let label = json!({"type": "string", "default": ""});
    let gear = &mut document["components"]["schemas"]["com.mill-example-com.v1.Gear"]["properties"];
    gear["spec"]["properties"] = json!({
        "replicas": {"type": "integer"},
        "selector": {"type": "object", "properties": {"matchLabels": {"type": "object", "additionalProperties": label}}},
        "hosts": {"type": "array", "x-kubernetes-patch-strategy": "merge", "x-kubernetes-patch-merge-key": "ip",
            "items": {"type": "object", "properties": {"ip": {"type": "string"}}}}});
    gear["status"] = json!({"type": "object", "properties": {"replicas": {"type": "integer"}}});
    let scale = json!({"x-kubernetes-action": "get",
        "x-kubernetes-group-version-kind": {"group": "autoscaling", "version": "v1", "kind": "Scale"}});
    let path = "/apis/mill.example.com/v1/namespaces/{namespace}/gears/{name}/scale";
    document["paths"][path] = json!({"get": scale});
    let generated = builder(files(&folder, &[("mill.json", document.to_string())])).generate().unwrap();
    let made = text(&generated, "mill/v1.rs");
    assert!(
        made.contains("scale(replicas = spec.replicas, status = status.replicas, selector = spec.selector)"),
        "{made}"
    );
    assert!(made.contains("#[api(merge(key = ip))]"), "{made}");
    // The derive checks neither in what is published.
    assert_eq!(made.matches("#[derive(").count(), made.matches("#[api(published").count(), "{made}");
}

#[test]
fn rules_of_documents_are_written_or_left_out_with_a_warning() {
    let folder = Folder::new("generated");
    let rules = json!([
        {"rule": "self.next.teeth > \"1\".size()", "message": "the next part has teeth", "fieldPath": ".next"},
        {"rule": "self.teeth >", "message": "wrong"},
        {"rule": "self.teeth > 1", "reason": "Whatever"},
    ]);
    let mut gears = document("clock.example.com", &json!({}));
    gears["components"]["schemas"]["com.example.Part"]["x-kubernetes-validations"] = rules;
    let generated = builder(files(&folder, &[("clock", gears.to_string())])).generate().unwrap();
    let text = text(&generated, "clock/v1.rs");
    assert!(text.contains("rule = r#\"self.next.teeth > \"1\".size()\"#"), "{text}");
    assert!(text.contains("field = \".next\"") && !text.contains("wrong") && !text.contains("Whatever"), "{text}");
    let warnings = generated.warnings.iter().map(|warning| warning.message.lines().next().unwrap());
    // The type is used in two places, in one of them as raw JSON.
    let warnings: BTreeSet<_> = warnings.filter(|warning| warning.starts_with("a rule")).collect();
    assert_eq!(
        Vec::from_iter(warnings),
        [
            "a rule is left out: its reason \"Whatever\" is none of FieldValueInvalid, FieldValueForbidden, FieldValueRequired, FieldValueDuplicate",
            "a rule is left out: its rule is no expression in CEL: ERROR: <input>:1:13: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}",
        ]
    );
}
