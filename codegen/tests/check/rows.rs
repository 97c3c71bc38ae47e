//! The rows of the table of changes: what is declared before and after, and what is to be found.
//!
//! A row says in `of` what its `old` and `new` are:
//!
//! - `field`, `spec`, `status`, `metadata`: the schema of `.spec.field`, of the spec, of `.status.field` or of the metadata of books.
//!   Books are defined by a manifest, as [`book`] has it.
//! - `unsplit`: as `status`, without a status subresource. `alpha`: as `spec`, in the version v1alpha1.
//! - `two`, `stored`: as `spec`, in one of two versions: that which is not stored, or that which is.
//! - `definition`: a merge patch of the definition's `spec`; `version` one of its version, `versions` one for each of them.
//! - `conversion`: the conversion of two versions. `kinds`: as `definition`, for each of several kinds.
//! - `gear`: the schema of `.spec.field` of gears. Gears are described by an OpenAPI document, as [`gears`] has it.
//! - `overlay`: what an overlay says of gears; `verbs`: their verbs; `subresource`: the kinds that the verbs of the subresource
//!   `turn` take; `type`: the name of the type of `.spec.wheel`.
//! - `message`: what is in the message of gears in Protobuf definitions.

use std::fs;

use kindsmith_model::codec::{self, yaml};
use serde_json::{Value, json};

/// A row.
pub(crate) struct Row {
    /// What changes.
    pub change: String,
    /// What is declared before and after: files by name.
    pub old: Files,
    pub new: Files,
    /// What is to be found: level, rule and place.
    pub finds: Vec<String>,
}

/// Files by name and content.
pub(crate) type Files = Vec<(String, Vec<u8>)>;

/// All rows.
pub(crate) fn all() -> Vec<Row> {
    let files = ["kinds", "fields", "validation", "messages"].map(|name| {
        let path = format!("{}/tests/check/changes/{name}.yaml", env!("CARGO_MANIFEST_DIR"));
        let text = fs::read(&path).unwrap();
        let limits = codec::Limits { depth: 64, memory: 16 << 20 };
        yaml::decode(&text, &limits).unwrap_or_else(|error| panic!("{path}:{}: {}", error.line, error.reason)).document
    });
    files.iter().flat_map(|file| file.as_array().unwrap()).map(Row::of).collect()
}

impl Row {
    fn of(row: &Value) -> Self {
        let text = |value: &Value| value.as_str().unwrap_or_else(|| panic!("a text in {row}")).to_owned();
        let files = |side: &str| {
            if row["of"] == "message" {
                return messages(&row["package"], &row[side]);
            }
            let documents = documents(row, &row[side], side == "old");
            let files = documents.into_iter().enumerate();
            files.map(|(index, document)| (format!("{index}.json"), document.to_string().into_bytes())).collect()
        };
        Self {
            change: text(&row["change"]),
            old: files("old"),
            new: files("new"),
            finds: row["finds"].as_array().unwrap().iter().map(text).collect(),
        }
    }
}

/// A file of Protobuf definitions with a message of gears, which has these fields.
fn messages(package: &Value, fields: &Value) -> Files {
    let package = package.as_str().unwrap_or("com.example.v1");
    let file = |message: &str, fields: &str| {
        let text = format!("syntax = \"proto2\";\npackage {package};\nmessage {message} {{\n{fields}\n}}\n");
        (format!("{message}.proto"), text.into_bytes())
    };
    // One file is there in any case: a folder without files is refused.
    fields.as_str().map(|fields| file("Gear", fields)).into_iter().chain([file("Other", "")]).collect()
}

/// The documents of one side of a row.
fn documents(row: &Value, said: &Value, is_old: bool) -> Vec<Value> {
    let versions = |versions: Value| vec![book(&json!({}), versions.as_array().unwrap())];
    let in_version = |path: &str| versions(json!([{"schema": at(path, said)}]));
    let beta = |schema: Value| json!({"name": "v1beta1", "storage": false, "schema": schema});
    match row["of"].as_str().unwrap() {
        "field" => in_version("spec.field"),
        "spec" => in_version("spec"),
        "status" => in_version("status.field"),
        "metadata" => in_version("metadata"),
        "unsplit" => versions(json!([{"subresources": null, "schema": at("status.field", said)}])),
        "alpha" => versions(json!([{"name": "v1alpha1", "schema": at("spec", said)}])),
        "two" => versions(json!([{}, beta(at("spec", said))])),
        "stored" => versions(json!([{"schema": at("spec", said)}, beta(json!({}))])),
        "definition" => vec![book(said, &[json!({})])],
        "version" => versions(json!([said])),
        "versions" => {
            let mut all = said.clone();
            // The version that a row names is stored, and no other.
            if let (Some(stored), true) = (row["storage"].as_str(), is_old) {
                for version in all.as_array_mut().unwrap() {
                    version["storage"] = json!(version["name"] == stored);
                }
            }
            versions(all)
        }
        "conversion" => vec![book(&json!({"conversion": said}), &[json!({}), beta(json!({}))])],
        "kinds" => said.as_array().unwrap().iter().map(|kind| book(kind, &[json!({})])).collect(),
        "gear" => vec![gears(&json!({"field": said}), &json!({}))],
        "type" => {
            let name = format!("com.example.v1.{}", said.as_str().unwrap());
            let wheel = json!({"$ref": format!("#/components/schemas/{name}")});
            vec![gears(&json!({"wheel": wheel}), &json!({name: {"type": "object"}}))]
        }
        "verbs" => {
            let mut document = gears(&json!({}), &json!({}));
            let verbs = document["paths"][OBJECT].as_object_mut().unwrap();
            verbs.retain(|verb, _| said.as_array().unwrap().iter().any(|said| said == verb));
            vec![document]
        }
        "overlay" => {
            let mut document = gears(&json!({}), &json!({}));
            if row["create_only"] == true && !is_old {
                document["paths"] = json!({COLLECTION: {"post": document["paths"][COLLECTION]["post"]}});
            }
            let mut entry = said.clone();
            entry["resource"] = json!("gears.example.com");
            vec![document, json!({"apiVersion": "kindsmith/v1", "kind": "Overlay", "resources": [entry]})]
        }
        "subresource" => vec![turned(said, row["pruned"] == true && !is_old)],
        other => panic!("a row of {other:?}"),
    }
}

/// The schema of a version with something at a path.
fn at(path: &str, said: &Value) -> Value {
    let schema = path.rsplit('.').fold(said.clone(), |below, name| json!({"properties": {name: below}}));
    json!({"openAPIV3Schema": schema})
}

/// A definition of books, with a merge patch of its `spec`, and one of each of its versions.
fn book(changes: &Value, versions: &[Value]) -> Value {
    let text = json!({"type": "string"});
    let number = json!({"type": "integer", "format": "int32"});
    let version = json!({
        "name": "v1", "served": true, "storage": true, "subresources": {"status": {}},
        "schema": {"openAPIV3Schema": {"type": "object", "properties": {
            "spec": {"type": "object", "properties": {"title": text, "copies": number, "shelves": number}},
            "status": {"type": "object", "properties": {"copies": number, "selector": text}},
        }}},
    });
    let versions: Vec<Value> = versions.iter().map(|changes| merged(&version, changes)).collect();
    let spec = json!({
        "group": "library.example.com", "scope": "Namespaced", "versions": versions,
        "names": {"kind": "Book", "plural": "books", "singular": "book", "listKind": "BookList", "shortNames": ["bk"],
            "categories": ["library"]},
    });
    let spec = merged(&spec, changes);
    let name = format!("{}.{}", spec["names"]["plural"].as_str().unwrap(), spec["group"].as_str().unwrap());
    json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": name}, "spec": spec})
}

const COLLECTION: &str = "/apis/example.com/v1/namespaces/{namespace}/gears";
const OBJECT: &str = "/apis/example.com/v1/namespaces/{namespace}/gears/{name}";

fn operation(action: &str, kind: &str) -> Value {
    let of = json!({"group": "example.com", "version": "v1", "kind": kind});
    json!({"x-kubernetes-action": action, "x-kubernetes-group-version-kind": of})
}

/// A document of gears, with further fields of their spec and further types.
fn gears(fields: &Value, types: &Value) -> Value {
    let gear = json!({"type": "object",
        "x-kubernetes-group-version-kind": [{"group": "example.com", "version": "v1", "kind": "Gear"}],
        "properties": {"apiVersion": {"type": "string"}, "kind": {"type": "string"}, "metadata": {"type": "object"},
            "spec": {"type": "object", "properties": fields}, "status": {"type": "object"}}});
    let on = |action: &str| operation(action, "Gear");
    let mut list = on("list");
    list["parameters"] = json!([{"in": "query", "name": "watch", "schema": {"type": "boolean"}}]);
    json!({
        "openapi": "3.0.0", "info": {"title": "gears", "version": "1"},
        "paths": {
            COLLECTION: {"get": list, "post": on("post"), "delete": on("deletecollection")},
            OBJECT: {"get": on("get"), "put": on("put"), "patch": on("patch"), "delete": on("delete")},
            format!("{OBJECT}/status"): {"get": on("get"), "put": on("put"), "patch": on("patch")},
        },
        "components": {"schemas": merged(types, &json!({"com.example.v1.Gear": gear}))},
    })
}

/// A document of gears with a subresource `turn`, whose verbs take these kinds.
fn turned(verbs: &Value, is_pruned: bool) -> Value {
    let fields = if is_pruned { json!({}) } else { json!({"by": {"type": "integer"}}) };
    let kind = |kind: &str| {
        json!({"type": "object", "properties": {"spec": {"type": "object", "properties": fields}},
            "x-kubernetes-group-version-kind": [{"group": "example.com", "version": "v1", "kind": kind}]})
    };
    let mut document =
        gears(&json!({}), &json!({"com.example.v1.Turn": kind("Turn"), "com.example.v1.Spin": kind("Spin")}));
    for (verb, kind) in verbs.as_object().unwrap() {
        let kind = kind.as_str().unwrap();
        let schema = |kind: &str| json!({"$ref": format!("#/components/schemas/com.example.v1.{kind}")});
        let mut turn = operation(verb, kind);
        turn["requestBody"] = json!({"content": {"*/*": {"schema": schema(kind)}}});
        turn["responses"] = json!({"200": {"content": {"application/json": {"schema": schema("Gear")}}}});
        document["paths"][format!("{OBJECT}/turn")][verb] = turn;
    }
    document
}

/// A document with a merge patch.
fn merged(document: &Value, patch: &Value) -> Value {
    let Value::Object(patch) = patch else { return patch.clone() };
    let mut merged = document.as_object().cloned().unwrap_or_default();
    for (name, value) in patch {
        if value.is_null() {
            merged.remove(name);
        } else {
            let below = self::merged(merged.get(name).unwrap_or(&Value::Null), value);
            merged.insert(name.clone(), below);
        }
    }
    merged.into()
}
