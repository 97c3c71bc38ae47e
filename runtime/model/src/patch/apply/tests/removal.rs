//! Removal of fields that an applier no longer applies.
use std::sync::LazyLock;

use serde_json::json;

use super::{Fixture, LACKS_ANSWERS, NARROW, RENAMED, VERSION, World, fixture};

#[test]
fn fields_without_another_owner_are_removed() {
    let mut world = World::default();
    let spec = json!({"a": "1", "b": 1, "map": {"k": "1", "l": "2"}, "maps": {"e": {"m": "1"}}, "nested": {"y": {"z": "1"}},
        "list": [{"name": "p"}, {"name": "q"}], "set": ["x", "y"], "seq": ["1"], "whole": {"p": "1"}, "free": {"x": {"y": 1}}});
    world.apply("one", &spec).expect("applied");
    world.apply("one", &json!({"a": "1", "map": {"k": "1"}, "list": [{"name": "p"}], "set": ["x"]})).expect("applied");
    assert_eq!(
        *world.spec(),
        json!({"a": "1", "d": "filled", "map": {"k": "1"}, "list": [{"name": "p", "protocol": "TCP"}], "set": ["x"]})
    );
    world.apply("one", &json!({})).expect("applied");
    assert_eq!(*world.spec(), json!({"d": "filled"}));
    assert_eq!(*world.owned("one"), json!({}), "the spec itself was named");
}

#[test]
fn fields_with_other_owners_are_kept() {
    let mut world = World::default();
    world
        .apply("one", &json!({"list": [{"name": "p", "port": 1, "note": "n"}], "map": {"k": "1"}, "b": 1}))
        .expect("applied");
    world.apply("two", &json!({"list": [{"name": "p", "port": 1}], "map": {"k": "1"}})).expect("applied");
    world.apply("one", &json!({})).expect("applied");
    assert_eq!(
        *world.spec(),
        json!({"d": "filled", "list": [{"name": "p", "port": 1, "protocol": "TCP"}], "map": {"k": "1"}})
    );
}

#[test]
fn fields_changed_by_an_update_are_no_longer_the_appliers() {
    let mut world = World::default();
    world.apply("one", &json!({"a": "1", "b": 1})).expect("applied");
    world.put("two", &json!({"a": "2", "b": 1}));
    assert_eq!(*world.owned("one"), json!({"f:b": {}}));
    world.apply("one", &json!({})).expect("applied");
    assert_eq!((&world.spec()["a"], world.spec().get("b")), (&json!("2"), None));
}

#[test]
fn an_item_is_removed_with_its_content() {
    let mut world = World::default();
    world.apply("one", &json!({"list": [{"name": "p", "port": 1}], "maps": {"e": {"m": "1"}}})).expect("applied");
    world.put("two", &json!({"list": [{"name": "p", "port": 2, "note": "n"}], "maps": {"e": {"m": "1", "n": "2"}}}));
    world.apply("one", &json!({})).expect("applied");
    assert_eq!(*world.spec(), json!({"d": "filled"}), "who owns a part of an item does not hold it");
    assert_eq!(*world.owned("two"), json!(null));
}

#[test]
fn a_struct_is_removed_with_its_last_owned_field_and_kept_with_an_owner() {
    let mut world = World::default();
    world.apply("one", &json!({"nested": {"x": "1"}})).expect("applied");
    world.apply("one", &json!({})).expect("applied");
    assert_eq!(world.spec().get("nested"), None, "its default was unowned");
    let mut world = World::default();
    world.put("maker", &json!({"nested": {"y": {"z": "1"}}}));
    world.apply("one", &json!({"nested": {"x": "1"}})).expect("applied");
    world.apply("one", &json!({})).expect("applied");
    assert_eq!(world.spec()["nested"], json!({"y": {"z": "1"}, "d": "in"}));
}

#[test]
fn unowned_fields_are_kept_beside_owned_ones() {
    let mut world = World::default();
    world.apply("one", &json!({"a": "1", "nested": {"x": "1"}})).expect("applied");
    world.apply("two", &json!({"nested": {"y": {"z": "1"}}})).expect("applied");
    world.live.as_mut().expect("an object")["spec"]["nested"]["d"] = json!("a hook's");
    world.apply("one", &json!({"a": "1"})).expect("applied");
    assert_eq!(world.spec()["nested"], json!({"d": "a hook's", "y": {"z": "1"}}));
    world.apply("two", &json!({})).expect("applied");
    assert_eq!(world.spec().get("nested"), None, "it goes with what holds it");
}

#[test]
fn a_field_with_a_default_falls_back_to_it() {
    let mut world = World::default();
    world.apply("one", &json!({"a": "1", "d": "mine"})).expect("applied");
    world.apply("one", &json!({"a": "1"})).expect("applied");
    assert_eq!(*world.spec(), json!({"a": "1", "d": "filled"}));
    assert_eq!(*world.owned("one"), json!({"f:a": {}}));
    world.apply("two", &json!({"d": "other"})).expect("defaults are unowned");
}

#[test]
fn labels_are_removed_and_the_object_keeps_its_name() {
    let mut world = World::default();
    let mut config = super::object(&json!({}));
    config["metadata"]["labels"] = json!({"l": "1"});
    world.apply_object("one", &config, false).expect("applied");
    let bare = json!({"apiVersion": super::VERSION, "kind": "Thing"});
    world.apply_object("one", &bare, false).expect("applied");
    let live = world.live.as_ref().expect("an object");
    assert_eq!((&live["metadata"]["name"], live["metadata"].get("labels")), (&json!("t"), None));
}

#[test]
fn a_field_of_one_version_stays_in_an_item_that_only_another_version_keeps() {
    let mut world = World::default();
    world.apply("one", &json!({"list": [{"name": "p"}]})).expect("applied");
    world.version = NARROW;
    world.put("editor", &json!({"list": [{"name": "p", "tags": ["t"]}]}));
    world.version = RENAMED;
    world.apply("two", &json!({"entries": [{"name": "p", "tags": ["t"]}]})).expect("applied");
    world.version = VERSION;
    world.apply("two", &json!({})).expect("applied");
    assert_eq!(world.spec()["list"][0]["tags"], json!(["t"]));
}

/// Things whose fields `x` and `y` are computed from `a` of the other version, and are zero without it.
static TWICE: LazyLock<Fixture> = LazyLock::new(|| {
    let version = |fields: &[&str]| {
        let number = |name: &&str| ((*name).to_owned(), json!({"type": "integer"}));
        let fields: serde_json::Map<_, _> = fields.iter().map(number).collect();
        fixture::schema(&json!({"type": "object", "properties": {"spec": {"type": "object", "properties": fields}}}))
    };
    let convert = |mut thing: crate::schema::Document, to: &str| {
        let spec = thing["spec"].take();
        let value = |name: &str| spec[name].as_i64().unwrap_or(0);
        thing["spec"] =
            if to == RENAMED { json!({"a": value("x")}) } else { json!({"x": value("a"), "y": value("a")}) };
        Ok(thing)
    };
    Fixture { kind: "Thing", versions: vec![(VERSION, version(&["x", "y"])), (RENAMED, version(&["a"]))], convert }
});

#[test]
fn of_values_that_are_computed_without_a_removed_field_those_with_an_owner_stay() {
    let mut world = World::of(&TWICE);
    world.version = RENAMED;
    world.apply("one", &json!({"a": 5})).expect("it is new");
    world.version = VERSION;
    world.apply("one", &json!({"x": 5})).expect("its own value");
    assert_eq!(*world.spec(), json!({"x": 5, "y": 0}));
}

/// Things that are converted with `y` alone.
static WITH_Y: LazyLock<Fixture> = LazyLock::new(|| {
    let text = json!({"type": "string"});
    let version = |name: &'static str| {
        let spec = json!({"type": "object", "properties": {"x": text, "y": text}});
        (name, fixture::schema(&json!({"type": "object", "properties": {"spec": spec}})))
    };
    let convert = |thing: crate::schema::Document, _: &str| {
        if thing["spec"]["y"].is_null() { Err("no y".to_owned()) } else { Ok(thing) }
    };
    Fixture { kind: "Thing", versions: vec![version(VERSION), version(RENAMED)], convert }
});

#[test]
fn fields_stay_without_which_no_conversion_is_possible_and_an_answer_that_is_missing_is_an_error() {
    for lacks_answers in [false, true] {
        let mut world = World::of(&WITH_Y);
        world.version = RENAMED;
        world.apply("one", &json!({"x": "1", "y": "1"})).expect("it is new");
        world.version = VERSION;
        LACKS_ANSWERS.set(lacks_answers);
        let applied = world.apply("one", &json!({}));
        LACKS_ANSWERS.set(false);
        if lacks_answers {
            assert!(format!("{:?}", applied.expect_err("nothing is known of the fields")).contains("no y"));
            assert_eq!(*world.spec(), json!({"x": "1", "y": "1"}));
        } else {
            applied.expect("both could not go");
            assert_eq!(*world.spec(), json!({"y": "1"}));
        }
    }
}
