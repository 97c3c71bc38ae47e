//! Tests of reading documents of our own: every extension, every error, recursion, several versions.
use serde_json::{Value, json};

use super::{documents::NO_DOCUMENT, *};
use crate::{
    kind::{
        endpoint::{Answer, Body, PatchType, Verb},
        model::Scope,
    },
    schema::{
        Schema,
        model::{ListType, Type},
    },
};

mod beside;
mod defaults;
mod description;
mod forms;
mod hostile;
mod messages;
mod names;
mod write_rules;

const GROUP: &str = "example.com";

/// An operation about a kind.
fn operation(action: &str, version: &str, kind: &str) -> Value {
    json!({"x-kubernetes-action": action,
        "x-kubernetes-group-version-kind": {"group": GROUP, "version": version, "kind": kind}})
}

/// A document of gears around the schema of their spec and further schemas, with the usual verbs.
fn gears(version: &str, spec: &Value, more: &Value) -> Value {
    let gear = json!({"type": "object", "description": "A gear.",
        "x-kubernetes-group-version-kind": [{"group": GROUP, "version": version, "kind": "Gear"}],
        "required": ["metadata", "spec"],
        "properties": {"apiVersion": {"type": "string"}, "kind": {"type": "string"}, "metadata": {"type": "object"},
            "spec": spec, "status": {"type": "object", "properties": {"phase": {"type": "string"}}}}});
    let mut schemas = more.as_object().unwrap().clone();
    schemas.insert(format!("com.example.{version}.Gear"), gear);
    let on = |action: &str| operation(action, version, "Gear");
    let mut list = on("list");
    list["parameters"] = json!([{"in": "query", "name": "watch", "schema": {"type": "boolean"}}]);
    let root = format!("/apis/{GROUP}/{version}");
    let collection = format!("{root}/namespaces/{{namespace}}/gears");
    json!({
        "openapi": "3.0.0", "info": {"title": "gears", "version": "1"},
        "paths": {
            format!("{root}/"): {"get": {"description": "discovery"}},
            format!("{root}/gears"): {"get": list},
            &collection: {"get": list, "post": on("post"), "delete": on("deletecollection")},
            format!("{collection}/{{name}}"):
                {"get": on("get"), "put": on("put"), "patch": on("patch"), "delete": on("delete")},
            format!("{collection}/{{name}}/status"): {"get": on("get"), "put": on("put"), "patch": on("patch")},
        },
        "components": {"schemas": schemas},
    })
}

fn read_all(documents: &[Value]) -> Result<Described, Report> {
    let texts: Vec<String> = documents.iter().map(Value::to_string).collect();
    let names: Vec<String> = (0..texts.len()).map(|number| format!("{number}.json")).collect();
    let sources = names.iter().zip(&texts).map(|(name, text)| Source { name, text: text.as_bytes() });
    read(&sources.collect::<Vec<_>>())
}

fn described(documents: &[Value]) -> Described {
    read_all(documents).unwrap_or_else(|report| panic!("{report}"))
}

/// The schema of the spec of gears.
fn spec(schema: &Value, more: &Value) -> Schema {
    let described = described(&[gears("v1", schema, more)]);
    described.resources[0].definition.versions[0].schema.properties["spec"].clone()
}

fn errors(documents: &[Value]) -> Vec<String> {
    let report = read_all(documents).expect_err("a wrong document");
    report.0.iter().map(|entry| format!("{} {}: {}", entry.source, entry.pointer, entry.message)).collect()
}

#[test]
fn names_scope_verbs_and_subresources_come_from_paths() {
    let mut document = gears("v1", &json!({"type": "object"}), &json!({}));
    let object = format!("/apis/{GROUP}/v1/namespaces/{{namespace}}/gears/{{name}}");
    let mut turn = operation("post", "v1", "Turn");
    turn["requestBody"] = json!({"content": {"*/*": {"schema": {"$ref": "#/components/schemas/com.example.v1.Turn"}}}});
    turn["responses"] = json!({"200": {"content": {"application/json": {"schema":
        {"$ref": "#/components/schemas/com.example.v1.Gear"}}}}});
    let mut connect = operation("connect", "v1", "TouchOptions");
    connect["parameters"] =
        json!([{"in": "query", "name": "how", "description": "How.", "schema": {"type": "string"}}]);
    let mut patch = operation("patch", "v1", "Gear");
    patch["requestBody"] = json!({"content": {"application/merge-patch+json": {}, "application/json-patch+json": {}}});
    let own = json!({"200": {"content": {"application/json": {"schema":
        {"$ref": "#/components/schemas/com.example.v1.Gear"}}}}});
    patch["responses"] = own.clone();
    document["paths"][format!("{object}/turn")] = json!({"post": turn});
    document["paths"][format!("{object}/touch")] =
        json!({"get": connect, "head": operation("connect", "v1", "TouchOptions")});
    document["paths"][format!("{object}/size")] = json!({"patch": patch});
    document["paths"][format!("/apis/{GROUP}/v1/gearreviews")] = json!({"post": operation("post", "v1", "GearReview")});
    for kind in ["Turn", "GearReview"] {
        document["components"]["schemas"][format!("com.example.v1.{kind}")] = json!({"type": "object",
            "properties": {"spec": {"type": "object", "properties": {"by": {"type": "integer", "format": "int32"}}}},
            "x-kubernetes-group-version-kind": [{"group": GROUP, "version": "v1", "kind": kind}]});
    }
    let described = described(&[document]);
    let [review, gear] = &described.resources[..] else { panic!("two resources") };
    assert!(!review.definition.shared.stored && review.definition.shared.scope == Scope::Cluster);
    let shared = &gear.definition.shared;
    assert_eq!((&*shared.names.kind, &*shared.names.list_kind, &*shared.names.singular), ("Gear", "GearList", "gear"));
    assert_eq!((shared.scope, shared.stored), (Scope::Namespaced, true));
    let version = &gear.definition.versions[0];
    assert_eq!((version.status, version.generation, &version.verbs), (true, true, &None));
    assert_eq!(version.schema.description, "A gear.");
    assert_eq!(version.schema.properties.keys().collect::<Vec<_>>(), ["spec", "status"]);
    assert_eq!(version.schema.required, ["spec"]);
    let [size, touch, turn] = &version.subresources[..] else { panic!("three subresources") };
    let types = vec![PatchType::Json, PatchType::Merge];
    assert_eq!((size.operations[0].verb, &size.operations[0].body), (Verb::Patch, &Body::Patch(types)));
    assert_eq!(size.operations[0].answer, Answer::Own);
    assert_eq!((touch.operations.len(), touch.operations[0].connects, &*touch.kind), (1, true, "TouchOptions"));
    assert_eq!(touch.options.as_ref().unwrap().properties["how"].description, "How.");
    let Body::Document(body) = &turn.operations[0].body else { panic!("a document") };
    assert_eq!((&*body.kind, body.schema.properties["spec"].properties["by"].kind), ("Turn", Type::Integer));
    assert_eq!(turn.operations[0].answer, Answer::Own);
    assert_eq!(described.warnings, Report::default());
}

#[test]
fn verbs_that_are_missing_are_not_served() {
    let mut document = gears("v1", &json!({"type": "object"}), &json!({}));
    let collection = format!("/apis/{GROUP}/v1/namespaces/{{namespace}}/gears");
    document["paths"][&collection].as_object_mut().unwrap().remove("delete");
    document["paths"].as_object_mut().unwrap().remove(&format!("{collection}/{{name}}"));
    let list = &mut document["paths"][format!("/apis/{GROUP}/v1/gears")]["get"];
    list.as_object_mut().unwrap().remove("parameters");
    document["paths"][&collection]["get"].as_object_mut().unwrap().remove("parameters");
    let verbs =
        |document: &Value| described(std::slice::from_ref(document)).resources[0].definition.versions[0].verbs.clone();
    assert_eq!(verbs(&document), Some(vec![Verb::Create, Verb::List]));
    document["paths"][format!("/apis/{GROUP}/v1/watch/gears")] = json!({"get": operation("watchlist", "v1", "Gear")});
    assert_eq!(verbs(&document), Some(vec![Verb::Create, Verb::List, Verb::Watch]));
}

#[test]
fn every_extension_is_read() {
    let spec = spec(
        &json!({"type": "object", "properties": {
            "map": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
                "x-kubernetes-patch-strategy": "merge,retainKeys", "x-kubernetes-patch-merge-key": "name",
                "items": {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}}},
            "set": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
            "atomic": {"type": "object", "x-kubernetes-map-type": "atomic", "additionalProperties": {"type": "string"}},
            "documented": {"type": "string", "title": "T", "example": "x", "externalDocs": {"url": "https://example.com"}},
            "open": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
            "object": {"type": "object", "x-kubernetes-embedded-resource": true,
                "x-kubernetes-preserve-unknown-fields": true},
            "port": {"x-kubernetes-int-or-string": true},
            "published": {"format": "int-or-string", "oneOf": [{"type": "integer"}, {"type": "string"}]},
            "size": {"oneOf": [{"type": "string"}, {"type": "number"}]},
            "any": {},
            "nullable": {"type": ["string", "null"]},
            "ruled": {"type": "object", "x-kubernetes-validations": [{"rule": "true"}],
                "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
                "x-kubernetes-unions": [{"fields-to-discriminateBy": {"a": "A"}}]},
            "union": {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
                "oneOf": [{"required": ["b"]}, {"required": ["a"]}]},
            "either": {"type": "integer", "anyOf": [{"minimum": 3}, {"maximum": 1}], "not": {"enum": [7]}},
        }}),
        &json!({}),
    );
    let at = |name: &str| &spec.properties[name];
    assert_eq!(at("map").list, ListType::Map(vec!["name".to_owned()]));
    let patch = &at("map").patch;
    assert!(patch.merge && patch.retain_keys && patch.merge_key.as_deref() == Some("name"));
    assert_eq!(at("set").list, ListType::Set);
    assert!(at("atomic").map_atomic && at("open").preserve_unknown && at("object").embedded);
    assert_eq!((at("port").kind, at("published").kind), (Type::IntOrString, Type::IntOrString));
    assert!(at("published").junctors.is_none() && at("published").format.is_none());
    assert_eq!((at("size").kind, at("size").format.as_deref()), (Type::String, Some("quantity")));
    assert_eq!((at("any").kind, at("any").preserve_unknown), (Type::Any, true));
    assert!(at("nullable").nullable && at("nullable").kind == Type::String);
    let kept = at("documented").unenforced.as_ref().unwrap();
    assert_eq!((&*kept.title, &kept.example), ("T", &Some(json!("x"))));
    assert_eq!(kept.external_docs, Some(json!({"url": "https://example.com"})));
    let kept = at("ruled").unenforced.as_ref().unwrap();
    assert_eq!((at("ruled").rules.len(), kept.unions.len()), (1, 1));
    assert!(at("union").union && at("union").junctors.is_none());
    let junctors = at("either").junctors.as_ref().unwrap();
    assert_eq!((junctors.any_of.len(), junctors.not.is_some()), (2, true));
}

#[test]
fn a_use_of_a_type_has_a_description_and_a_default_of_its_own() {
    let more = json!({"com.example.v1.Teeth": {"type": "object", "description": "Teeth of a gear.",
        "properties": {"count": {"type": "integer", "default": 1}}}});
    let teeth = json!({"$ref": "#/components/schemas/com.example.v1.Teeth"});
    let spec = spec(
        &json!({"type": "object", "properties": {
            "plain": teeth,
            "described": {"allOf": [teeth], "description": "The teeth.", "default": {}},
            "limited": {"allOf": [teeth], "maxProperties": 3},
        }}),
        &more,
    );
    let [plain, described, limited] = ["plain", "described", "limited"].map(|name| &spec.properties[name]);
    assert_eq!((&*plain.description, &*plain.type_description), ("", "Teeth of a gear."));
    assert_eq!((&*described.description, &*described.type_description), ("The teeth.", "Teeth of a gear."));
    assert_eq!((&described.default, &described.properties), (&Some(json!({})), &plain.properties));
    assert_eq!(described.name.as_deref(), Some("com.example.v1.Teeth"));
    assert_eq!((&limited.name, limited.max_properties, &*limited.description), (&None, Some(3), "Teeth of a gear."));
}

#[test]
fn recursive_types_refer_back_to_definitions() {
    let reference = |name: &str| json!({"$ref": format!("#/components/schemas/com.example.v1.{name}")});
    let more = json!({
        "com.example.v1.Tree": {"type": "object", "description": "A tree.", "required": ["name"], "properties": {
            "name": {"type": "string"}, "branch": reference("Branch"), "leaf": reference("Leaf")}},
        "com.example.v1.Branch": {"type": "object", "properties": {
            "trees": {"type": "array", "items": reference("Tree")},
            "first": {"allOf": [reference("Tree")], "description": "The first."}}},
        "com.example.v1.Leaf": {"type": "object", "properties": {"green": {"type": "boolean"}}},
    });
    let spec =
        spec(&json!({"type": "object", "properties": {"tree": reference("Tree"), "leaf": reference("Leaf")}}), &more);
    let tree = &spec.properties["tree"];
    assert_eq!(tree.definitions.as_ref().map(|all| all.len()), Some(2));
    let at = crate::schema::At::of(&spec);
    let path = ["tree", "branch", "first", "branch", "first", "name"];
    let name = path.iter().fold(at, |at, name| at.property(name).unwrap_or_else(|| panic!("{name}")));
    assert_eq!(name.kind, Type::String);
    let first = at.property("tree").and_then(|at| at.property("branch")).and_then(|at| at.property("first")).unwrap();
    assert_eq!((&*first.description, &*first.type_description, first.required.len()), ("The first.", "A tree.", 1));
    assert!(first.properties.is_empty() && first.definition.is_some());
    assert!(spec.properties["leaf"].definitions.is_none());
}

#[test]
fn versions_of_several_documents_are_one_resource_and_share_equal_types() {
    let more = json!({"com.example.Part": {"type": "object", "properties": {"name": {"type": "string"}}}});
    let spec = json!({"type": "object", "properties": {"part": {"$ref": "#/components/schemas/com.example.Part"}}});
    let described = described(&["v1beta1", "v2alpha1", "v1"].map(|version| gears(version, &spec, &more)));
    let [gear] = &described.resources[..] else { panic!("one resource") };
    assert_eq!(gear.definition.storage_version, "v1");
    let versions: Vec<_> = gear.definition.versions.iter().map(|version| &*version.name).collect();
    assert_eq!(versions, ["v1", "v1beta1", "v2alpha1"]);
    let part = |index: usize| -> *const Schema {
        gear.definition.versions[index].schema.properties.get("spec").unwrap().properties.get("part").unwrap()
    };
    assert!(part(0) == part(1) && part(1) == part(2));
    let kinds = gear.kinds();
    assert_eq!(kinds.iter().map(|kind| kind.binding.conversion.is_some()).collect::<Vec<_>>(), [false, true, true]);
}

#[test]
fn types_of_the_same_name_that_differ_are_not_shared() {
    let reference = json!({"$ref": "#/components/schemas/com.example.Part"});
    let spec = json!({"type": "object", "properties": {"whole": {"$ref": "#/components/schemas/com.example.Whole"}}});
    let more = |field: &str| {
        json!({"com.example.Part": {"type": "object", "properties": {field: {"type": "string"}}},
            "com.example.Whole": {"type": "object", "properties": {"part": reference}}})
    };
    let described = described(&[gears("v1", &spec, &more("name")), gears("v2", &spec, &more("label"))]);
    let fields = described.resources[0].definition.versions.iter().map(|version| {
        let part = &version.schema.properties["spec"].properties["whole"].properties["part"];
        part.properties.keys().cloned().collect::<Vec<_>>()
    });
    assert_eq!(fields.collect::<Vec<_>>(), [["label"], ["name"]]);
}

#[test]
fn everything_wrong_is_reported_at_once_with_its_place() {
    let wrong = json!({"type": "object", "properties": {
        "a": {"type": "int"},
        "b": {"$ref": "#/components/schemas/com.example.v1.Missing"},
        "c": {"$ref": "other.json#/Thing"},
        "d": {"type": "string", "maxLength": "3", "pattern": "("},
        "e": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "bag"},
        "f": {"type": "object", "x-kubernetes-patch-strategy": "mix"},
        "g": {"anyOf": [{"$ref": "#/components/schemas/com.example.v1.Gear"}, {"minimum": 1}]},
        "h": 5,
        "i": {"type": ["string", "integer"]},
    }});
    let mut document = gears("v1", &wrong, &json!({}));
    let collection = format!("/apis/{GROUP}/v1/namespaces/{{namespace}}/gears");
    document["paths"][&collection]["post"] = operation("list", "v1", "Gear");
    document["paths"][&collection]["delete"] = operation("deletecollection", "v1", "Wheel");
    document["paths"][format!("/apis/{GROUP}/v1/bolts")] = json!({"get": {}, "post": {}});
    document["paths"][format!("/apis/{GROUP}/v1/wheels")] = json!({"post": operation("post", "v2", "Wheel")});
    document["paths"][format!("/apis/{GROUP}/v1/nuts")] = json!({"post": operation("post", "v1", "Nut")});
    let old = json!({"swagger": "2.0"});
    let found = errors(&[document, old, json!({"openapi": "4.0"}), json!({"kind": "Gear"})]);
    let spec = "/components/schemas/com.example.v1.Gear/properties/spec/properties";
    let at = "/paths/~1apis~1example.com~1v1~1namespaces~1{namespace}~1gears";
    for expected in [
        format!("0.json {spec}/a/type: found \"int\"; supported: array, boolean, integer, number, object, string"),
        format!("0.json {spec}/b/$ref: the document has no schema \"com.example.v1.Missing\""),
        format!(
            "0.json {spec}/c/$ref: found a reference to \"other.json#/Thing\"; supported: #/components/schemas/<name>"
        ),
        format!("0.json {spec}/d/maxLength: expected a whole number that is not negative, found \"3\""),
        format!("0.json {spec}/d/pattern: error parsing regexp: missing closing ): `(`"),
        format!("0.json {spec}/e/x-kubernetes-list-type: found \"bag\"; supported: atomic, set, map"),
        format!("0.json {spec}/f/x-kubernetes-patch-strategy: found \"mix\"; supported: merge, replace, retainKeys"),
        format!("0.json {spec}/h: expected an object, found 5"),
        format!(
            "0.json {spec}/i/type: found several types; supported: one of array, boolean, integer, number, object, string, and null"
        ),
        "0.json /paths/~1apis~1example.com~1v1~1bolts/post: x-kubernetes-group-version-kind is missing: it says which kind \
         is served here"
            .to_owned(),
        format!("0.json {at}/post/x-kubernetes-action: found \"list\"; supported here: post"),
        format!(
            "0.json {at}/delete/x-kubernetes-group-version-kind: found the kind Wheel, where other operations have Gear"
        ),
        "0.json /paths/~1apis~1example.com~1v1~1wheels/post/x-kubernetes-group-version-kind: found a kind of \
         example.com/v2; supported: the group and version of the path, example.com/v1"
            .to_owned(),
        "1.json /swagger: found OpenAPI \"2.0\"; supported: OpenAPI 3.0 and 3.1".to_owned(),
        "2.json /openapi: found \"4.0\"; supported: 3.0 and 3.1".to_owned(),
        format!("3.json : {NO_DOCUMENT}"),
    ] {
        assert!(found.contains(&expected), "{expected}\nis not among\n{}", found.join("\n"));
    }
    let begins = |start: &str| found.iter().any(|error| error.starts_with(start));
    assert!(begins(&format!("0.json {spec}/g/anyOf/0/$ref: found $ref inside allOf, anyOf, oneOf or not")));
    assert!(begins("0.json /paths/~1apis~1example.com~1v1~1nuts/post: no schema says that it is the kind's"));
}

#[test]
fn wrong_parameters_are_reported_with_their_place() {
    let collection = format!("/apis/{GROUP}/v1/namespaces/{{namespace}}/gears");
    let at = "/paths/~1apis~1example.com~1v1~1namespaces~1{namespace}~1gears";
    let mut document = gears("v1", &json!({"type": "object"}), &json!({}));
    document["paths"][format!("{collection}/{{name}}/turn")] = json!({"get": {"x-kubernetes-action": "connect",
        "x-kubernetes-group-version-kind": {"group": GROUP, "version": "v1", "kind": "TurnOptions"},
        "parameters": [{"in": "query", "name": "by", "description": 3, "schema": {"type": "int"}}]}});
    let of_parameters = errors(&[document]);
    let location = format!("0.json {at}~1{{name}}~1turn/get/parameters/0");
    assert_eq!(
        of_parameters,
        [
            format!("{location}/description: expected a string, found 3"),
            format!(
                "{location}/schema/type: found \"int\"; supported: array, boolean, integer, number, object, string"
            ),
        ]
    );
}

#[test]
fn what_is_required_need_not_be_declared() {
    let spec = json!({"type": "object", "required": ["size"], "properties": {
        "list": {"type": "array", "required": ["size"], "items": {"type": "string"}},
        "map": {"type": "object", "required": ["size"], "additionalProperties": {"type": "string"}},
        "closed": {"type": "object", "additionalProperties": false},
    }});
    let described = described(&[gears("v1", &spec, &json!({}))]);
    let spec = &described.resources[0].definition.versions[0].schema.properties["spec"];
    assert_eq!(
        (&*spec.required, &*spec.properties["list"].required),
        (&["size".to_owned()][..], &["size".to_owned()][..])
    );
    assert_eq!(spec.properties["closed"].additional.as_ref().unwrap().boolean, Some(false));
}

#[test]
fn what_has_no_effect_is_warned_of() {
    let spec = json!({"type": "object", "properties": {
        "a": {"type": "string", "readOnly": true, "format": "colour"},
        "b": {"type": "array", "items": {"type": "string"}, "uniqueItems": true},
        "c": {"type": "object", "additionalProperties": false, "properties": {"x": {"type": "string"}}},
        "d": {"type": "object", "x-kubernetes-validations": [{"rule": "true"}]},
        "e": {"type": "object", "required": ["x"], "properties": {"x": {"type": "string"}}, "default": {}},
    }});
    let mut document = gears("v1", &spec, &json!({}));
    document["paths"]["/version"] = json!({"get": {}});
    document["paths"]["/logs/"] = json!({"get": {}});
    let described = described(&[document]);
    let warned: Vec<_> = described.warnings.0.iter().map(|entry| entry.pointer.rsplit('/').next().unwrap()).collect();
    assert_eq!(warned.len(), 6, "{}", described.warnings);
    for expected in ["readOnly", "format", "uniqueItems", "additionalProperties", "default"] {
        assert!(warned.contains(&expected), "{expected}");
    }
    assert!(described.warnings.to_string().contains("/paths/~1logs~1: not a path of a resource"));
    let spec = &described.resources[0].definition.versions[0].schema.properties["spec"];
    assert_eq!((&*spec.required, &spec.properties["e"].default), (&["e".to_owned()][..], &None));
}
