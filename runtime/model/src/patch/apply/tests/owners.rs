//! The entries: their order, number, times and versions; and those of scale.
use serde_json::{Value, json};

use super::{VERSION, World, at};
use crate::patch::apply::{OneVersion, View, Writer, merge, scale, update};

fn managers(world: &World) -> Vec<&str> {
    world.entries().iter().map(|entry| entry["manager"].as_str().expect("a manager")).collect()
}

#[test]
fn appliers_come_first_then_the_oldest() {
    let mut world = World::default();
    world.put("z", &json!({"a": "1"}));
    world.put("y", &json!({"a": "1", "b": 1}));
    world.apply("x", &json!({"flag": true})).expect("applied");
    world.apply("w", &json!({"seq": ["1"]})).expect("applied");
    assert_eq!(managers(&world), ["x", "w", "z", "y"]);
    world.put("z", &json!({"a": "2", "b": 1, "flag": true, "seq": ["1"]}));
    assert_eq!(managers(&world), ["x", "w", "y", "z"]);
    assert_eq!((world.time("x"), world.time("z")), (&json!(at(3)), &json!(at(5))));
}

#[test]
fn a_writer_without_a_name_is_unknown() {
    let mut world = World::default();
    world.put("", &json!({"a": "1"}));
    assert_eq!(managers(&world), ["unknown"]);
}

#[test]
fn the_oldest_updates_are_joined() {
    let mut world = World::default();
    world.apply("applier", &json!({"a": "1"})).expect("applied");
    let mut map = serde_json::Map::new();
    for second in 0..13 {
        map.insert(format!("k{second:02}"), json!("v"));
        world.put(&format!("m{second:02}"), &json!({"a": "1", "map": map}));
    }
    let kept: Vec<String> = (4..13).map(|second| format!("m{second:02}")).collect();
    let all: Vec<&str> = ["applier", "ancient-changes"].into_iter().chain(kept.iter().map(String::as_str)).collect();
    assert_eq!(managers(&world), all);
    let joined = json!({"f:map": {".": {}, "f:k00": {}, "f:k01": {}, "f:k02": {}, "f:k03": {}}});
    assert_eq!(*world.owned("ancient-changes"), joined);
    assert_eq!(*world.time("ancient-changes"), json!(at(5)), "as new as the newest in it");
}

#[test]
fn values_that_have_become_atomic_are_owned_as_a_whole() {
    let mut world = World::default();
    world
        .apply("one", &json!({"seq": ["x"], "whole": {"p": "1"}, "wholes": [{"p": "1"}], "free": {"x": 1}}))
        .expect("applied");
    let live = world.live.as_mut().expect("an object");
    live["metadata"]["managedFields"][0]["fieldsV1"]["f:spec"] = json!({
        "f:seq": {".": {}, "v:\"x\"": {}}, "f:whole": {"f:p": {}}, "f:free": {"f:x": {}},
        "f:wholes": {"k:{\"p\":\"1\"}": {".": {}, "f:p": {}}}});
    world.put("two", &json!({"seq": ["y"], "whole": {"p": "1"}, "wholes": [{"p": "1"}], "free": {"x": 1}}));
    assert_eq!(*world.owned("one"), json!({"f:free": {"f:x": {}}, "f:whole": {}, "f:wholes": {"k:{\"p\":\"1\"}": {}}}));
}

#[test]
fn built_in_structs_are_there_from_the_start() {
    let schema = crate::schema::fixture::schema(&json!({"type": "object", "properties": {
        "spec": {"type": "object", "zeroIsAbsent": true, "properties": {"a": {"type": "string"}}},
        "other": {"type": "object", "properties": {"a": {"type": "string"}}}}}));
    let view = View { root: &schema, kind: "Thing", reset: &[], versions: &OneVersion };
    let mut new = json!({"metadata": {"name": "t"}, "spec": {"a": "1"}, "other": {"a": "1"}});
    update(
        &view,
        None,
        &mut new,
        &Writer { manager: "m", api_version: "v1", subresource: "", time: "2026-01-01T00:00:00Z" },
    );
    assert_eq!(
        new["metadata"]["managedFields"][0]["fieldsV1"],
        json!({"f:spec": {"f:a": {}}, "f:other": {".": {}, "f:a": {}}})
    );
}

fn entry(manager: &str, operation: &str, version: &str, fields: &Value, subresource: &str) -> Value {
    let mut entry = json!({"manager": manager, "operation": operation, "apiVersion": version, "fieldsType": "FieldsV1", "fieldsV1": fields});
    if !subresource.is_empty() {
        entry["subresource"] = json!(subresource);
    }
    entry
}

#[test]
fn replicas_are_owned_in_scales_terms() {
    let path = ["spec".to_owned(), "size".to_owned()];
    let parent = json!([
        entry("a", "Apply", VERSION, &json!({"f:spec": {"f:size": {}, "f:x": {}}}), ""),
        entry("b", "Apply", VERSION, &json!({"f:spec": {"f:x": {}}}), ""),
        entry("c", "Update", VERSION, &json!({"f:spec": {"f:size": {}}}), "scale"),
    ]);
    let path = |version: &str| (version == VERSION).then_some(&path[..]);
    let of_scale = json!({"f:spec": {"f:replicas": {}}});
    let scaled = scale::to_scale(&parent, path);
    assert_eq!(
        scaled,
        json!([
            entry("a", "Apply", "autoscaling/v1", &of_scale, ""),
            entry("c", "Update", "autoscaling/v1", &of_scale, "scale")
        ])
    );
    assert_eq!(scale::to_parent(&parent, &scaled, VERSION, path), parent, "nothing happened");
    let taken = json!([entry("d", "Update", "autoscaling/v1", &of_scale, "scale")]);
    assert_eq!(
        scale::to_parent(&parent, &taken, VERSION, path),
        json!([
            entry("a", "Apply", VERSION, &json!({"f:spec": {"f:x": {}}}), ""),
            entry("b", "Apply", VERSION, &json!({"f:spec": {"f:x": {}}}), ""),
            entry("d", "Update", VERSION, &json!({"f:spec": {"f:size": {}}}), "scale"),
        ])
    );
    let gone = json!([entry("d", "Update", "autoscaling/v1", &json!({"f:status": {}}), "scale")]);
    assert_eq!(scale::to_parent(&parent, &gone, VERSION, path).as_array().map(Vec::len), Some(2));
    assert_eq!(scale::to_scale(&Value::Null, path), Value::Null);
}

#[test]
fn a_scale_is_applied_in_its_own_terms() {
    let scale_schema = crate::schema::fixture::schema(&json!({"type": "object", "properties": {
        "spec": {"type": "object", "properties": {"replicas": {"type": "integer"}}}}}));
    let view = View { root: &scale_schema, kind: "Scale", reset: &[], versions: &OneVersion };
    let path = ["spec".to_owned(), "b".to_owned()];
    let path = |version: &str| (version == VERSION).then_some(&path[..]);
    let mut world = World::default();
    world.apply("one", &json!({"a": "1", "b": 3})).expect("applied");
    let live = world.live.clone().expect("an object");
    let entries = scale::to_scale(&live["metadata"]["managedFields"], path);
    let scale_of = json!({"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "t", "managedFields": entries},
        "spec": {"replicas": 3}});
    let config =
        json!({"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "t"}, "spec": {"replicas": 4}});
    let time = at(9);
    let writer = Writer { manager: "two", api_version: "autoscaling/v1", subresource: "scale", time: &time };
    let error = merge(&view, Some(&scale_of), &config, &writer, false).expect_err("a conflict");
    assert_eq!(error.to_string(), "Apply failed with 1 conflict: conflict with \"one\": .spec.replicas");
    let new = merge(&view, Some(&scale_of), &config, &writer, true).expect("forced");
    let entries =
        scale::to_parent(&live["metadata"]["managedFields"], &new["metadata"]["managedFields"], VERSION, path);
    world.live.as_mut().expect("an object")["metadata"]["managedFields"] = entries;
    assert_eq!((world.owned("one"), world.owned("two")), (&json!({"f:a": {}}), &json!({"f:b": {}})));
    assert_eq!((world.time("two"), &world.entries()[1]["subresource"]), (&json!(time), &json!("scale")));
}
