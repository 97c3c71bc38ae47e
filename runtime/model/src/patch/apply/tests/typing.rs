//! Configurations that do not fit the schema, and values without a schema.
use serde_json::{Value, json};

use super::{World, conflict};
use crate::patch::apply::ApplyError;

fn refused(spec: &Value) -> String {
    match World::default().apply("one", spec) {
        Err(ApplyError::Untyped(message)) => {
            let head = "failed to create typed patch object (ns/t; example.com/v1, Kind=Thing): ";
            message.strip_prefix(head).expect("the head of the message").to_owned()
        }
        other => panic!("not refused: {other:?}"),
    }
}

#[test]
fn errors_are_worded_as_in_kube_apiserver() {
    for (spec, why) in [
        (json!({"nope": 1}), ".spec.nope: field not declared in schema"),
        (json!({"a": 1}), ".spec.a: expected string, got &value.valueUnstructured{Value:1}"),
        (json!({"b": "x"}), ".spec.b: expected numeric (int or float), got string"),
        (json!({"b": {}}), ".spec.b: expected numeric (int or float), got map[string]interface {}"),
        (json!({"flag": "yes"}), ".spec.flag: expected boolean, got &{yes}"),
        (json!({"nested": [1, "x", null]}), ".spec.nested: expected map, got &{[1 x <nil>]}"),
        (json!({"seq": {"k": "v"}}), ".spec.seq: expected list, got &{map[k:v]}"),
        (json!({"seq": ["x", 1]}), ".spec.seq[1]: expected string, got &value.valueUnstructured{Value:1}"),
        (json!({"whole": {"r": 1}}), ".spec.whole.r: field not declared in schema"),
        (
            json!({"list": [{"name": "p", "port": "x"}]}),
            ".spec.list[name=\"p\"].port: expected numeric (int or float), got string",
        ),
        (json!({"list": [{"name": "p"}, {"name": "p"}]}), ".spec.list: duplicate entries for key [name=\"p\"]"),
        (json!({"set": ["x", "x"]}), ".spec.set: duplicate entries for key [=\"x\"]"),
        (
            json!({"multi": [{"port": 1}, {"port": 1, "protocol": "TCP"}]}),
            ".spec.multi: duplicate entries for key [port=1,protocol=\"TCP\"]",
        ),
        (
            json!({"list": [{"port": 1}]}),
            ".spec.list: element 0: associative list with keys has an element that omits all key \
            fields [\"name\"] (and doesn't have default values for any key fields)",
        ),
        (json!({"list": ["x"]}), ".spec.list: element 0: associative list with keys may not have non-map elements"),
        (json!({"list": [null]}), ".spec.list: element 0: associative list with keys may not have a null element"),
        (json!({"set": [{}]}), ".spec.set: element 0: associative list without keys has an element that's a map type"),
        (
            json!({"set": [null]}),
            ".spec.set: element 0: associative list without keys has an element that's an explicit null",
        ),
        (
            json!({"list": [{"name": "q", "port": "x"}, {"name": "p", "port": "y"}, {"name": "q", "port": true}, {}, {"name": 1}]}),
            "errors:\n  .spec.list[name=\"q\"].port: expected numeric (int or float), got string\n  \
            .spec.list[name=\"p\"].port: expected numeric (int or float), got string\n  \
            .spec.list: duplicate entries for key [name=\"q\"]\n  \
            .spec.list[name=\"q\"].port: expected numeric (int or float), got bool\n  \
            .spec.list: element 3: associative list with keys has an element that omits all key \
            fields [\"name\"] (and doesn't have default values for any key fields)",
        ),
        (
            json!({"a": true, "b": "x"}),
            "errors:\n  .spec.a: expected string, got &value.valueUnstructured{Value:true}\n  \
            .spec.b: expected numeric (int or float), got string",
        ),
    ] {
        assert_eq!(refused(&spec), why, "{spec}");
    }
}

#[test]
fn an_item_of_the_object_that_cannot_be_identified_is_named() {
    let mut world = World::default();
    world.apply("one", &json!({"a": "1", "list": [{"name": "p"}]})).expect("applied");
    world.live.as_mut().expect("an object")["spec"]["list"] = json!([{"name": "p"}, {"port": 1}]);
    let error = world.apply("one", &json!({"a": "1", "list": [{"name": "q"}]})).expect_err("the object does not fit");
    assert_eq!(
        error.to_string(),
        "failed to create typed live object (ns/t; example.com/v1, Kind=Thing): .spec.list: element 1: associative list \
         with keys has an element that omits all key fields [\"name\"] (and doesn't have default values for any key \
         fields)"
    );
    let new = world.live.clone().expect("an object");
    world.apply("one", &json!({"a": "2"})).expect_err("nor does it where other fields change");
    assert_eq!(world.live, Some(new), "nothing has happened");
}

#[test]
fn values_without_a_schema_are_owned_by_what_they_are() {
    let mut world = World::default();
    world
        .apply("one", &json!({"free": {"map": {"k": 1}, "list": [{"x": 1}], "n": null}, "any": {"x": {"y": 1}}}))
        .expect("applied");
    assert_eq!(
        *world.owned("one"),
        json!({"f:any": {"f:x": {".": {}, "f:y": {}}}, "f:free": {"f:list": {}, "f:map": {".": {}, "f:k": {}}, "f:n": {}}})
    );
    world.apply("two", &json!({"any": {"z": 1}})).expect("maps are granular");
    world
        .apply("two", &json!({"any": "text"}))
        .expect("kube-apiserver sees no conflict where a value changes its form");
    assert_eq!((&world.spec()["any"], world.owned("one").get("f:any")), (&json!("text"), None));
}

#[test]
fn null_is_owned_and_then_removed() {
    let mut world = World::default();
    world.apply("one", &json!({"a": null, "map": null, "list": null})).expect("applied");
    assert_eq!(*world.owned("one"), json!({"f:a": {}, "f:list": {}, "f:map": {}}));
    assert_eq!(*world.spec(), json!({"d": "filled"}));
}

#[test]
fn null_leaves_granular_containers_as_they_are() {
    let mut world = World::default();
    world.apply("one", &json!({"map": {"k": "v"}, "list": [{"name": "p"}], "nested": {"x": "1"}})).expect("applied");
    world.apply("two", &json!({"map": null, "list": null, "nested": null})).expect("applied");
    assert_eq!((&world.spec()["map"], &world.spec()["nested"]["x"]), (&json!({"k": "v"}), &json!("1")));
    assert_eq!(world.spec()["list"][0]["name"], "p");
}

#[test]
fn deep_configurations_are_safe() {
    let mut deep = json!(1);
    for _ in 0..980 {
        deep = json!({"x": deep});
    }
    let mut world = World::default();
    world.apply("one", &json!({"free": deep})).expect("applied");
    let mut other = json!(2);
    for _ in 0..980 {
        other = json!({"x": other});
    }
    assert!(conflict(world.apply("two", &json!({"free": other}))).len() > 980);
    world.apply("one", &json!({})).expect("applied");
    assert_eq!(world.spec().get("free"), None);
}
