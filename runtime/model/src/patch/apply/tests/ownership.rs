//! Field ownership after applies and updates.
use serde_json::json;

use super::{World, conflict, object, view, writer};
use crate::patch::apply::{ApplyError, View, merge, update};

#[test]
fn an_applier_owns_the_applied_fields() {
    let mut world = World::default();
    world
        .apply("one", &json!({"a": "1", "nested": {"y": {"z": "2"}}, "map": {"k": "v"}, "maps": {"e": {"m": "1"}}}))
        .expect("applied");
    assert_eq!(
        *world.owned("one"),
        json!({"f:a": {}, "f:map": {"f:k": {}}, "f:maps": {"f:e": {".": {}, "f:m": {}}}, "f:nested": {"f:y": {"f:z": {}}}})
    );
    assert_eq!(world.spec()["d"], "filled", "defaults are filled in and unowned");
}

#[test]
fn the_identity_of_an_object_is_unowned() {
    let mut world = World::default();
    let mut config = object(&json!({}));
    config["metadata"]["labels"] = json!({"l": "1"});
    world.apply_object("one", &config, false).expect("applied");
    let entry = json!({"manager": "one", "operation": "Apply", "apiVersion": "example.com/v1", "time": super::at(1),
        "fieldsType": "FieldsV1", "fieldsV1": {"f:metadata": {"f:labels": {"f:l": {}}}, "f:spec": {}}});
    assert_eq!(world.entries(), [entry]);
}

#[test]
fn an_updater_owns_changed_fields_and_new_containers() {
    let mut world = World::default();
    world.put("made", &json!({"a": "1", "nested": {"x": "1"}}));
    assert_eq!(
        *world.owned("made"),
        json!({".": {}, "f:a": {}, "f:d": {}, "f:nested": {".": {}, "f:d": {}, "f:x": {}}}),
        "who makes an object owns its defaults, too"
    );
    world.put("changed", &json!({"a": "2", "nested": {"x": "1"}, "list": [{"name": "p"}]}));
    assert_eq!(*world.owned("made"), json!({".": {}, "f:d": {}, "f:nested": {".": {}, "f:d": {}, "f:x": {}}}));
    let item = "k:{\"name\":\"p\"}";
    assert_eq!(
        *world.owned("changed"),
        json!({"f:a": {}, "f:list": {".": {}, item: {".": {}, "f:name": {}, "f:protocol": {}}}})
    );
}

#[test]
fn an_update_that_changes_nothing_moves_nothing() {
    let mut world = World::default();
    world.put("one", &json!({"a": "1"}));
    let before = world.live.clone();
    world.put("two", &json!({"a": "1", "d": "filled"}));
    assert_eq!(world.live, before);
    world.put("one", &json!({"a": "1"}));
    assert_eq!(world.live, before);
}

#[test]
fn an_apply_that_changes_nothing_moves_nothing() {
    let mut world = World::default();
    let spec = json!({"a": "1", "list": [{"name": "p", "port": 1}], "seq": ["x"], "free": {"x": [1]}});
    world.apply("one", &spec).expect("applied");
    world.put("two", &json!({"a": "1", "b": 5, "list": [{"name": "p", "port": 1}], "seq": ["x"], "free": {"x": [1]}}));
    let before = world.live.clone();
    world.apply("one", &spec).expect("applied");
    assert_eq!(world.live, before);
}

#[test]
fn the_same_value_may_have_several_owners() {
    let mut world = World::default();
    world.apply("one", &json!({"a": "1"})).expect("applied");
    world.apply("two", &json!({"a": "1"})).expect("applied");
    assert_eq!((world.owned("one"), world.owned("two")), (&json!({"f:a": {}}), &json!({"f:a": {}})));
    assert_eq!(*world.time("two"), json!(null), "the object did not change");
    assert_eq!(
        conflict(world.apply("one", &json!({"a": "2"}))),
        "Apply failed with 1 conflict: conflict with \"two\": .spec.a"
    );
    world.apply("one", &json!({"b": 1})).expect("applied");
    assert_eq!(world.spec()["a"], "1", "the other owner keeps it");
}

#[test]
fn conflicts_name_every_owner_and_field() {
    let mut world = World::default();
    world.apply("zoe", &json!({"a": "1", "nested": {"x": "1"}})).expect("applied");
    world.put("kim", &json!({"a": "1", "nested": {"x": "1"}, "b": 1}));
    let spec = json!({"a": "2", "b": 2, "nested": {"x": "2"}});
    let told = "Apply failed with 3 conflicts: conflicts with \"kim\" using example.com/v1:\n- .spec.b\n\
                conflicts with \"zoe\":\n- .spec.a\n- .spec.nested.x";
    assert_eq!(conflict(world.apply("one", &spec)), told);
    world.force("one", &spec);
    assert_eq!(*world.owned("zoe"), json!(null));
    assert_eq!(*world.owned("kim"), json!(null), "who owns nothing is no owner");
}

#[test]
fn conflicts_name_the_subresource() {
    let view = View { reset: &[&["spec"]], ..view() };
    let status = crate::patch::apply::Writer { subresource: "status", ..writer("controller", "2026-01-01T00:00:09Z") };
    let mut world = World::default();
    world.apply("one", &json!({"a": "1"})).expect("applied");
    let live = world.live.clone().expect("an object");
    let mut new = live.clone();
    new["spec"]["a"] = "mine".into();
    new["status"] = json!({"phase": "Ready"});
    update(&view, Some(&live), &mut new, &status);
    new["spec"]["a"] = "1".into();
    let entry = json!({"manager": "controller", "operation": "Update", "apiVersion": "example.com/v1", "subresource": "status",
        "time": "2026-01-01T00:00:09Z", "fieldsType": "FieldsV1", "fieldsV1": {"f:status": {".": {}, "f:phase": {}}}});
    assert_eq!(new["metadata"]["managedFields"][1], entry, "what is reset is not owned");
    let mut config = object(&json!({}));
    config["status"] = json!({"phase": "Failed"});
    let status = crate::patch::apply::Writer { manager: "other", ..status };
    let error = merge(&view, Some(&new), &config, &status, false).expect_err("a conflict");
    assert_eq!(
        error.to_string(),
        "Apply failed with 1 conflict: conflict with \"controller\" with subresource \"status\" using example.com/v1: \
         .status.phase"
    );
}

#[test]
fn fields_that_a_view_resets_are_neither_taken_nor_in_conflict() {
    let mut world = World::default();
    let mut config = object(&json!({"a": "1"}));
    config["status"] = json!({"phase": "Ready"});
    world.apply_object("one", &config, false).expect("applied");
    assert_eq!(world.entries()[0]["fieldsV1"], json!({"f:spec": {"f:a": {}}}));
}

#[test]
fn fields_from_before_the_first_apply_have_an_owner() {
    let mut world = World::default();
    world.put("made", &json!({"a": "1", "b": 1}));
    let mut given = world.live.clone().expect("an object");
    given["metadata"]["managedFields"] = json!([{}]);
    world.put_object("reset", given);
    assert!(world.entries().is_empty(), "one empty entry resets");
    world.put("silent", &json!({"a": "2", "b": 1}));
    assert!(world.entries().is_empty(), "nothing is tracked until someone applies");
    assert_eq!(
        conflict(world.apply("one", &json!({"b": 2}))),
        "Apply failed with 1 conflict: conflict with \"before-first-apply\" using example.com/v1: .spec.b"
    );
    world.apply("one", &json!({"b": 1})).expect("applied");
    assert_eq!(*world.owned("before-first-apply"), json!({".": {}, "f:a": {}, "f:b": {}, "f:d": {}}));
    assert_eq!(*world.owned("one"), json!({"f:b": {}}));
}

#[test]
fn clients_may_rewrite_the_entries_but_not_break_them() {
    let mut world = World::default();
    world.apply("one", &json!({"a": "1"})).expect("applied");
    let mut given = world.live.clone().expect("an object");
    given["metadata"]["managedFields"] = json!([{"manager": "x", "operation": "Apply", "apiVersion": "example.com/v1",
        "time": "2026-01-01T02:00:00+02:00", "fieldsType": "FieldsV1", "fieldsV1": {"f:spec": {"f:b": {}, "q:later": {}}}}]);
    world.put_object("editor", given);
    let entry = json!({"manager": "x", "operation": "Apply", "apiVersion": "example.com/v1",
        "time": "2026-01-01T00:00:00Z", "fieldsType": "FieldsV1", "fieldsV1": {"f:spec": {"f:b": {}}}});
    assert_eq!(world.entries(), std::slice::from_ref(&entry));
    for broken in [
        json!([{"manager": "x", "operation": "Steal", "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": {}}]),
        json!([{"manager": "x", "operation": "Apply", "apiVersion": "", "fieldsType": "FieldsV1", "fieldsV1": {}}]),
        json!([{"manager": "x", "operation": "Apply", "apiVersion": "v1", "fieldsType": "FieldsV2", "fieldsV1": {}}]),
        json!([{"manager": "x", "operation": "Apply", "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": {"f": {}}}]),
        json!([{"manager": "x", "operation": "Apply", "apiVersion": "v1", "fieldsType": "FieldsV1", "time": "now"}]),
        json!([7]),
        json!("none"),
        json!(null),
    ] {
        let mut given = world.live.clone().expect("an object");
        given["metadata"]["managedFields"] = broken.clone();
        world.put_object("editor", given);
        assert_eq!(world.entries(), std::slice::from_ref(&entry), "{broken}");
    }
    let mut given = world.live.clone().expect("an object");
    given["metadata"]["managedFields"] = json!([]);
    world.put_object("editor", given);
    assert!(world.entries().is_empty(), "an empty list resets");
}

#[test]
fn an_object_that_does_not_fit_keeps_its_owners() {
    let mut world = World::default();
    world.apply("one", &json!({"list": [{"name": "p"}]})).expect("applied");
    let before = world.entries().to_vec();
    world.put("two", &json!({"a": "2", "list": [{"port": 5}, null]}));
    assert_eq!(world.entries(), before);
}

#[test]
fn apply_requires_a_configuration_of_the_kind() {
    let mut world = World::default();
    let refusals = [
        (json!({"metadata": {"name": "t"}}), "invalid object type: /, Kind="),
        (json!({"apiVersion": "v1", "kind": "Thing"}), "invalid object type: /v1, Kind=Thing"),
        (json!({"apiVersion": "example.com/v1", "kind": "Other"}), "invalid object type: example.com/v1, Kind=Other"),
        (json!([]), "invalid object type: /, Kind="),
        (
            json!({"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"managedFields": []}}),
            "metadata.managedFields must be nil",
        ),
    ];
    for (config, why) in refusals {
        let refused = world.apply_object("one", &config, false);
        assert_eq!(refused, Err(ApplyError::BadRequest(why.to_owned())), "{config}");
    }
}
