//! OpenAPI documents with discovery, an overlay and Protobuf definitions beside them, served from a folder.
use std::{fs, io::Read, path::Path, thread::sleep, time::Duration};

use kindsmith_tests::Folder;

use super::Served;

const ROOT: &str = "/apis/example.com/v1/namespaces/{namespace}/gears";
const GEARS: &str = "/apis/example.com/v1/namespaces/default/gears";

/// An OpenAPI document of gears.
fn document() -> String {
    let action = |method: &str, action: &str| {
        format!(
            r#""{method}": {{"x-kubernetes-action": "{action}",
                "x-kubernetes-group-version-kind": {{"group": "example.com", "version": "v1", "kind": "Gear"}}}}"#
        )
    };
    let collection = [action("get", "list"), action("post", "post")].join(",");
    let object = [action("get", "get"), action("put", "put"), action("delete", "delete")].join(",");
    format!(
        r##"{{"openapi": "3.0.0", "info": {{"title": "gears", "version": "1"}},
        "paths": {{"{ROOT}": {{{collection}}}, "{ROOT}/{{name}}": {{{object}}}}},
        "components": {{"schemas": {{"com.example.v1.Gear": {{"type": "object", "description": "A gear.",
            "x-kubernetes-group-version-kind": [{{"group": "example.com", "version": "v1", "kind": "Gear"}}],
            "properties": {{"apiVersion": {{"type": "string"}}, "kind": {{"type": "string"}}, "metadata": {{"type": "object"}},
                "spec": {{"$ref": "#/components/schemas/com.example.v1.GearSpec"}}}}}},
            "com.example.v1.GearSpec": {{"type": "object", "properties": {{
                "teeth": {{"type": "integer", "format": "int32"}}}}}}}}}}}}"##
    )
}

const DISCOVERY: &str = r#"{"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": "example.com/v1", "resources": [
    {"name": "gears", "singularName": "gear", "namespaced": true, "kind": "Gear", "shortNames": ["gr"], "categories": ["all"],
     "verbs": ["create", "delete", "get", "list", "update"]}]}"#;

const MESSAGES: &str = "syntax = \"proto3\";
package com.example.v1;
message Gear { ObjectMeta metadata = 1; GearSpec spec = 2; }
message GearSpec { int32 teeth = 1; }
";

/// An overlay with one column beside the name.
fn overlay(column: &str) -> String {
    format!(
        "apiVersion: kindsmith/v1
kind: Overlay
resources:
- resource: gears.example.com
  columns:
  - {{name: {column}, type: integer, cell: .spec.teeth}}
"
    )
}

impl Served {
    /// The columns of the Table of gears.
    fn columns(&self) -> String {
        let table = self.accepting("application/json;as=Table;v=v1;g=meta.k8s.io", GEARS);
        let (columns, _) = table.split_once("\"rows\"").unwrap_or_default();
        let names = columns.split("\"name\": \"").skip(1).filter_map(|rest| rest.split_once('"'));
        names.map(|(name, _)| name).collect::<Vec<_>>().join(" ")
    }

    fn until_columns_are(&self, expected: &str) {
        self.until("/readyz", |_, _| self.columns() == expected);
    }
}

fn write(folder: &Path, name: &str, text: &str) {
    fs::write(folder.join(name), text).unwrap();
}

#[test]
fn documents_are_served_with_what_lies_beside_them() {
    let folder = Folder::new("serve");
    let (documents, data) = (folder.path().join("documents"), folder.path().join("data"));
    fs::create_dir(&documents).unwrap();
    for (name, text) in [
        ("gears.json", &*document()),
        ("discovery.json", DISCOVERY),
        ("gears.proto", MESSAGES),
        ("overlay.yaml", &*overlay("Teeth")),
    ] {
        write(&documents, name, text);
    }
    let mut served = Served::start(&[&documents], data);
    let mut log = served.server.errors().unwrap();
    let (_, resources) = served.call("GET", "/apis/example.com/v1", "");
    for expected in ["\"shortNames\": [\n        \"gr\"\n      ]", "\"categories\": [\n        \"all\"\n      ]"] {
        assert!(resources.contains(expected), "{resources}");
    }
    assert_eq!(served.columns(), "Name Teeth");
    let gear = r#"{"apiVersion": "example.com/v1", "kind": "Gear", "metadata": {"name": "a"}, "spec": {"teeth": 12}}"#;
    assert_eq!(served.call("POST", GEARS, gear).0, 201);
    let message = served.accepting("application/vnd.kubernetes.protobuf", &format!("{GEARS}/a"));
    assert!(message.starts_with("k8s\0"), "{message:?}");

    write(&documents, "overlay.yaml", &overlay("Cogs"));
    served.until_columns_are("Name Cogs");
    // Broken ones leave what was read before.
    write(&documents, "overlay.yaml", &overlay("Broken").replace(".spec.teeth", "largest(.spec.teeth)"));
    write(&documents, "gears.proto", &MESSAGES.replace("teeth = 1", "teeth = 0"));
    sleep(Duration::from_secs(6));
    assert_eq!(served.columns(), "Name Cogs");
    write(&documents, "overlay.yaml", &overlay("Whole"));
    write(&documents, "gears.proto", MESSAGES);
    served.until_columns_are("Name Whole");
    assert_eq!(served.call("GET", &format!("{GEARS}/a"), "").0, 200);

    let (well, rest) = served.server.terminate();
    assert!(well, "{rest}");
    let mut errors = String::new();
    log.read_to_string(&mut errors).unwrap();
    let at = |name: &str, line: usize| format!("{}:{line}: ", documents.join(name).display());
    for expected in [at("overlay.yaml", 6), at("gears.proto", 4), "found the function \"largest\"".to_owned()] {
        assert!(errors.contains(&expected), "{expected}: {errors}");
    }
}
