//! Applies that change nothing, detected by the cheap check.
use serde_json::{Value, json};

use super::{World, object};

fn applied(spec: &Value) -> World {
    let mut world = World::default();
    world.apply("one", spec).expect("no conflict");
    assert!(world.is_noop("one", &object(spec)));
    world
}

#[test]
fn a_repeated_apply_changes_nothing_despite_other_owners() {
    let spec = json!({"a": "1", "set": ["x", "y"], "map": {"k": "1"}, "free": {"deep": [{"er": 1}]}, "wholes": [{"p": "1"}],
        "list": [{"name": "q", "port": 1}], "multi": [{"port": 1}, {"port": 10}, {"port": 9, "protocol": "UDP"}]});
    let mut world = applied(&spec);
    world.apply("two", &json!({"b": 1, "set": ["w"], "list": [{"name": "p"}], "map": {"l": "2"}})).expect("free");
    let mut new = world.live.clone().expect("an object");
    new["spec"]["flag"] = json!(true);
    world.put_object("three", new);
    assert!(world.is_noop("one", &object(&spec)));
    assert!(!world.is_noop("two", &object(&spec)), "these are the fields of another");
    assert!(!world.is_noop("three", &object(&json!({"flag": true}))), "who changed a field has not applied it");
}

#[test]
fn less_more_and_other_values_are_changes() {
    let world = applied(&json!({"a": "1", "set": ["x", "y"], "list": [{"name": "q", "port": 1}, {"name": "r"}]}));
    for other in [
        json!({"a": "1", "set": ["x", "y"], "list": [{"name": "q", "port": 1}]}),
        json!({"a": "1", "set": ["y", "x"], "list": [{"name": "q", "port": 1}, {"name": "r"}]}),
        json!({"a": "2", "set": ["x", "y"], "list": [{"name": "q", "port": 1}, {"name": "r"}]}),
        json!({"a": "1", "set": ["x", "y", "z"], "list": [{"name": "q", "port": 1}, {"name": "r"}]}),
        json!({"a": "1", "set": ["x", "y"], "list": [{"name": "q", "port": 2}, {"name": "r"}]}),
        json!({"a": "1", "set": ["x", "y"], "list": [{"name": "q", "port": 1}, {"name": "r"}], "b": 1}),
        json!({"a": null, "set": ["x", "y"], "list": [{"name": "q", "port": 1}, {"name": "r"}]}),
    ] {
        assert!(!world.is_noop("one", &object(&other)), "{other}");
    }
}

#[test]
fn an_invalid_apply_is_not_a_noop() {
    let spec = json!({"a": "1", "set": ["x"]});
    let world = applied(&spec);
    let mut other = object(&spec);
    other["kind"] = json!("Other");
    assert!(!world.is_noop("one", &other));
    let mut with_entries = object(&spec);
    with_entries["metadata"]["managedFields"] = json!([]);
    assert!(!world.is_noop("one", &with_entries));
    assert!(!world.is_noop("one", &object(&json!({"a": "1", "set": ["x", "x"]}))));
}

#[test]
fn lists_with_duplicate_items_are_not_checked() {
    let mut world = applied(&json!({"list": [{"name": "q", "port": 1}]}));
    let mut new = world.live.clone().expect("an object");
    new["spec"]["list"] =
        json!([{"name": "q", "port": 1, "protocol": "TCP"}, {"name": "q", "port": 2, "protocol": "TCP"}]);
    world.put_object("two", new);
    assert!(!world.is_noop("one", &object(&json!({"list": [{"name": "q", "port": 1}]}))));
}

#[test]
fn text_in_values_is_not_taken_for_an_entry() {
    let spec = json!({"a": "1"});
    let mut world = applied(&spec);
    let entries = world.live.as_ref().expect("an object")["metadata"]["managedFields"].to_string();
    world.live.as_mut().expect("an object")["metadata"]["managedFields"] = json!([]);
    world.apply("two", &json!({"map": {entries: "1"}})).expect("free");
    assert!(!world.is_noop("one", &object(&spec)));
}

#[test]
fn an_entry_of_a_subresource_is_another() {
    let spec = json!({"a": "1"});
    let mut world = applied(&spec);
    world.live.as_mut().expect("an object")["metadata"]["managedFields"][0]["subresource"] = json!("status");
    assert!(!world.is_noop("one", &object(&spec)));
}

#[test]
fn fields_that_were_removed_by_others_are_restored() {
    let spec = json!({"set": ["x", "y"], "map": {"k": "1", "l": "2"}, "list": [{"name": "q"}, {"name": "r"}]});
    for (field, left) in [
        ("set", json!(["x"])),
        ("map", json!({"k": "1"})),
        ("list", json!([{"name": "q", "protocol": "TCP"}])),
        ("set", json!(null)),
        ("list", json!([])),
    ] {
        let mut world = applied(&spec);
        world.live.as_mut().expect("an object")["spec"][field] = left;
        assert!(!world.is_noop("one", &object(&spec)), "a hook has changed {field}, and the apply brings it back");
        world.apply("one", &spec).expect("no conflict");
        assert!(world.is_noop("one", &object(&spec)), "{field}");
    }
}

#[test]
fn the_check_of_long_lists_is_bounded() {
    let (many, few) = (json!((0..300).collect::<Vec<_>>()), json!((0..100).collect::<Vec<_>>()));
    let texts = |numbers: &Value| -> Value {
        numbers.as_array().expect("numbers").iter().map(|number| json!(number.to_string())).collect()
    };
    let world = applied(&json!({"set": texts(&many)}));
    assert!(!world.is_noop("one", &object(&json!({"set": texts(&few)}))), "fewer are a change");
    let mut world = World::default();
    world.apply("one", &json!({"set": texts(&few)})).expect("no conflict");
    world.apply("two", &json!({"set": texts(&many)})).expect("no conflict");
    let before = world.live.clone();
    assert!(!world.is_noop("one", &object(&json!({"set": texts(&few)}))), "to look at all pairs takes too long");
    world.apply("one", &json!({"set": texts(&few)})).expect("no conflict");
    assert_eq!(world.live, before, "the apply itself finds that nothing changes");
}
