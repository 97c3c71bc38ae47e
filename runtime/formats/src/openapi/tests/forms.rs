//! Tests of forms that documents of other servers have: what can be served is, and what cannot is warned of.
use serde_json::{Value, json};

use super::{GROUP, described, errors, gears};
use crate::{
    kind::{
        endpoint::{Answer, Body, PatchType, Verb},
        model::{Path, Scope, Version},
    },
    openapi::Described,
    schema::{self, model::Type},
};

fn plain() -> Value {
    gears("v1", &json!({"type": "object"}), &json!({}))
}

fn only(described: &Described) -> &Version {
    let [gear] = &described.resources[..] else { panic!("one resource") };
    &gear.definition.versions[0]
}

/// The beginning of the messages of all warnings.
fn warned(described: &Described) -> Vec<String> {
    described.warnings.0.iter().map(|entry| entry.message.split([':', ',', ';']).next().unwrap().to_owned()).collect()
}

fn remove_all(value: &mut Value, key: &str) {
    match value {
        Value::Object(members) => {
            members.remove(key);
            members.values_mut().for_each(|member| remove_all(member, key));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| remove_all(item, key)),
        _ => {}
    }
}

/// As the documents of Kubernetes 1.23, which say kinds in schemas only.
#[test]
fn operations_that_do_not_say_their_kind_are_about_that_of_their_documents() {
    let mut document = plain();
    let schema = |name: &str| json!({"schema": {"$ref": format!("#/components/schemas/com.example.v1.{name}")}});
    let answer = |name: &str| json!({"200": {"content": {"application/json": schema(name)}}});
    remove_all(&mut document["paths"], "x-kubernetes-group-version-kind");
    remove_all(&mut document["paths"], "x-kubernetes-action");
    let collection = format!("/apis/{GROUP}/v1/namespaces/{{namespace}}/gears");
    for (path, method, name) in [
        (collection.clone(), "get", "GearList"),
        (format!("{collection}/{{name}}"), "get", "Gear"),
        (format!("{collection}/{{name}}"), "delete", "Status"),
        (format!("{collection}/{{name}}/status"), "put", "Gear"),
    ] {
        document["paths"][path][method]["responses"] = answer(name);
    }
    let said = |kind: &str| json!([{"group": GROUP, "version": "v1", "kind": kind}]);
    document["components"]["schemas"]["com.example.v1.GearList"] = json!({"type": "object",
        "properties": {"items": {"type": "array", "items": {"$ref": "#/components/schemas/com.example.v1.Gear"}}},
        "x-kubernetes-group-version-kind": said("GearList")});
    document["components"]["schemas"]["com.example.v1.Status"] = json!({"type": "object",
        "x-kubernetes-group-version-kind": [{"group": "", "version": "v1", "kind": "Status"}]});
    let described = described(&[document]);
    let names = &described.resources[0].definition.shared.names;
    assert_eq!((&*names.kind, &*names.list_kind), ("Gear", "GearList"));
    assert_eq!((only(&described).status, &only(&described).verbs), (true, &None));
}

#[test]
fn parameters_of_paths_may_have_other_names() {
    let mut document = plain();
    let paths = document["paths"].as_object().unwrap().clone();
    let renamed =
        paths.into_iter().map(|(path, item)| (path.replace("{namespace}", "{ns}").replace("{name}", "{id}"), item));
    document["paths"] = renamed.collect();
    let described = described(&[document]);
    assert_eq!(described.resources[0].definition.shared.scope, Scope::Namespaced);
    assert_eq!((only(&described).status, &only(&described).verbs), (true, &None));
    assert_eq!(warned(&described), [""; 0]);
}

/// As the server of custom metrics, and that of the subresources of virtual machines, publish them.
#[test]
fn paths_that_cannot_be_served_do_not_keep_others_from_being_served() {
    let mut document = plain();
    let mut operation = json!({"x-kubernetes-group-version-kind": {"group": GROUP, "version": "v1", "kind": "Gear"}});
    let root = format!("/apis/{GROUP}/v1");
    for path in [
        "{resource}/{name}/{subresource}",
        "namespaces/{namespace}/{resource}/{name}/{subresource}",
        "namespaces/{namespace}/gears/{name}/turn/{by}/{times}",
        "namespaces/{namespace}/gears/{name}/turn/left",
    ] {
        document["paths"][format!("{root}/{path}")] = json!({"get": operation});
    }
    document["paths"][format!("{root}/namespaces/{{namespace}}/machines/{{name}}/stop")] = json!({"put": operation});
    document["paths"][format!("{root}/gears")]["put"] = operation.clone();
    operation["requestBody"] =
        json!({"content": {"*/*": {"schema": {"$ref": "#/components/schemas/com.example.v1.Options"}}}});
    document["paths"][format!("{root}/namespaces/{{namespace}}/gears/{{name}}/start")] = json!({"put": operation});
    document["components"]["schemas"]["com.example.v1.Options"] = json!({"type": "object"});
    let described = described(&[document]);
    assert_eq!((&only(&described).verbs, only(&described).subresources.len()), (&None, 0));
    let mut warned = warned(&described);
    warned.sort_unstable();
    let path = "a path of a kind in another form";
    let others = ["machines has subresources", "not served", "the method put of this path is not served"];
    assert_eq!(warned, [&[path; 4][..], &others].concat());
}

#[test]
fn parameters_bodies_and_answers_may_be_references() {
    let mut document = plain();
    let path = format!("/apis/{GROUP}/v1/namespaces/{{namespace}}/gears/{{name}}/turn");
    let kind = json!({"group": GROUP, "version": "v1", "kind": "Gear"});
    let content =
        json!({"content": {"application/json": {"schema": {"$ref": "#/components/schemas/com.example.v1.Gear"}}}});
    document["components"]["parameters"] =
        json!({"by": {"in": "query", "name": "by", "description": "How far.", "schema": {"type": "integer"}}});
    document["components"]["requestBodies"] = json!({"gear": content,
        "patch": {"content": {"application/merge-patch+json": {}}}});
    document["components"]["responses"] = json!({"gear": content});
    document["paths"][&path] = json!({
        "post": {"x-kubernetes-group-version-kind": kind, "requestBody": {"$ref": "#/components/requestBodies/gear"},
            "parameters": [{"$ref": "#/components/parameters/by"}],
            "responses": {"200": {"$ref": "#/components/responses/gear"}}},
        "patch": {"x-kubernetes-group-version-kind": kind, "requestBody": {"$ref": "#/components/requestBodies/patch"},
            "responses": {"200": {"$ref": "#/components/responses/gear"}}}});
    let read = described(&[document.clone()]);
    let turn = &only(&read).subresources[0];
    assert_eq!(turn.options.as_ref().unwrap().properties["by"].kind, Type::Integer);
    let operations: Vec<_> = turn.operations.iter().map(|of| (of.verb, of.body.clone(), of.answer.clone())).collect();
    let patch = Body::Patch(vec![PatchType::Merge]);
    assert_eq!(operations, [(Verb::Create, Body::Own, Answer::Own), (Verb::Patch, patch, Answer::Own)]);
    document["paths"][path]["post"]["parameters"] = json!([{"$ref": "other.json#/by"}]);
    assert!(
        errors(&[document])[0].ends_with("found a reference to \"other.json#/by\"; supported: one of this document")
    );
}

/// As the types of OpenShift that moved to groups of their own.
#[test]
fn a_schema_may_be_that_of_kinds_of_several_groups() {
    let mut document = plain();
    let said = &mut document["components"]["schemas"]["com.example.v1.Gear"]["x-kubernetes-group-version-kind"];
    said.as_array_mut().unwrap().push(json!({"group": "", "version": "v1", "kind": "Gear"}));
    assert_eq!(described(&[document]).resources[0].definition.shared.names.kind, "Gear");
}

#[test]
fn openapi_3_1_has_bounds_and_constants_of_its_own() {
    let spec = json!({"type": "object", "properties": {
        "a": {"type": "integer", "exclusiveMinimum": 1, "exclusiveMaximum": 5},
        "b": {"type": "integer", "minimum": 3, "exclusiveMinimum": 1},
        "c": {"type": "integer", "minimum": 1, "exclusiveMinimum": 1},
        "d": {"const": "x", "type": "string", "examples": ["x"]},
        "e": {"type": "integer", "anyOf": [{"title": "Few", "description": "Few.", "maximum": 3}, {"minimum": 9}]},
    }});
    let described = described(&[gears("v1", &spec, &json!({}))]);
    let spec = &only(&described).schema.properties["spec"].properties;
    let bounds = |name: &str| (spec[name].minimum, spec[name].exclusive_minimum);
    assert_eq!((bounds("a"), spec["a"].maximum, spec["a"].exclusive_maximum), ((Some(1.0), true), Some(5.0), true));
    assert_eq!((bounds("b"), bounds("c")), ((Some(3.0), false), (Some(1.0), true)));
    assert_eq!(
        (&spec["d"].enumeration, spec["d"].unenforced.as_ref().unwrap().example.clone()),
        (&vec![json!("x")].into(), Some(json!("x")))
    );
    assert_eq!(spec["e"].junctors.as_ref().unwrap().any_of[0].maximum, Some(3.0));
    assert_eq!(warned(&described), ["description has no effect inside allOf", "title has no effect inside allOf"]);
}

#[test]
fn selectable_fields_are_read_as_kube_apiserver_publishes_them() {
    let mut document = gears("v1", &json!({"type": "object", "properties": {"size": {"type": "string"}}}), &json!({}));
    let gear = &mut document["components"]["schemas"]["com.example.v1.Gear"];
    gear["x-kubernetes-selectable-fields"] = json!([{"fieldPath": "spec.size"}]);
    let described = described(&[document.clone()]);
    assert_eq!((&only(&described).selectable, warned(&described).len()), (&vec![Path::from("spec.size")], 0));
    let gear = &mut document["components"]["schemas"]["com.example.v1.Gear"];
    gear["x-kubernetes-selectable-fields"] = json!([{"fieldPath": "spec[0]"}]);
    assert!(errors(&[document])[0].contains("/x-kubernetes-selectable-fields/0/fieldPath: found"));
}

#[test]
fn the_paths_of_a_scale_are_those_of_kubernetes_or_of_an_overlay() {
    let mut document =
        gears("v1", &json!({"type": "object", "properties": {"replicas": {"type": "integer"}}}), &json!({}));
    let path = format!("/apis/{GROUP}/v1/namespaces/{{namespace}}/gears/{{name}}/scale");
    document["paths"][path] = json!({"get": {"x-kubernetes-action": "get",
        "x-kubernetes-group-version-kind": {"group": "autoscaling", "version": "v1", "kind": "Scale"}}});
    let without = described(&[document.clone()]);
    assert_eq!((&only(&without).scale, warned(&without)), (&None, vec!["the scale is not served".to_owned()]));
    let overlay = |scale: &Value| {
        json!({"apiVersion": "kindsmith/v1", "kind": "Overlay", "resources": [
            {"resource": format!("gears.{GROUP}"), "scale": scale}]})
    };
    let with = described(&[
        document.clone(),
        overlay(&json!({"replicas": ".spec.teeth", "statusReplicas": ".status.teeth", "selector": ".status.gears"})),
    ]);
    let scale = only(&with).scale.clone().unwrap();
    assert_eq!((scale.replicas, scale.selector), (Path::from("spec.teeth"), Some(Path::from("status.gears"))));
    assert_eq!(warned(&with).len(), 0);
    let wrong = errors(&[document.clone(), overlay(&json!({"replicas": ".spec.teeth"}))]);
    assert!(wrong[0].contains("/resources/0/scale/statusReplicas: found \"\""), "{wrong:?}");

    let status = &mut document["components"]["schemas"]["com.example.v1.Gear"]["properties"]["status"]["properties"];
    status["replicas"] = json!({"type": "integer"});
    status["selector"] = json!({"type": "string"});
    let scale = only(&described(&[document])).scale.clone().unwrap();
    assert_eq!((scale.replicas, scale.selector), (Path::from("spec.replicas"), Some(Path::from("status.selector"))));
}

#[test]
fn empty_fields_of_references_to_objects_are_omitted_in_kinds_of_kubernetes() {
    let reference = json!({"type": "object", "properties": {"name": {"type": "string"}}});
    let names = ["io.k8s.api.core.v1.ObjectReference", "io.k8s.api.core.v1.Other"];
    let used = |name: &str| json!({"$ref": format!("#/components/schemas/{name}")});
    let spec = json!({"type": "object", "properties": {"reference": used(names[0]), "other": used(names[1])}});
    let described = described(&[gears("v1", &spec, &json!({names[0]: reference, names[1]: reference}))]);
    let mut object = json!({"spec": {"reference": {"name": ""}, "other": {"name": ""}}});
    schema::normalise(&only(&described).schema, &mut object);
    assert_eq!(object, json!({"spec": {"reference": {}, "other": {"name": ""}}}));
}
