//! All types of lists and maps under apply.
use serde_json::{Value, json};

use super::{World, conflict};

fn names(list: &Value) -> Vec<&str> {
    list.as_array()
        .expect("a list")
        .iter()
        .map(|item| item["name"].as_str().or(item.as_str()).expect("a name"))
        .collect()
}

fn ports(names: &[&str]) -> Value {
    names.iter().map(|name| json!({"name": name})).collect()
}

#[test]
fn items_of_a_list_map_have_owners_of_their_own() {
    let mut world = World::default();
    world.apply("one", &json!({"list": [{"name": "p", "port": 1}]})).expect("applied");
    world.apply("two", &json!({"list": [{"name": "q", "port": 2}, {"name": "p", "note": "n"}]})).expect("applied");
    let (p, q) = ("k:{\"name\":\"p\"}", "k:{\"name\":\"q\"}");
    assert_eq!(*world.owned("one"), json!({"f:list": {p: {".": {}, "f:name": {}, "f:port": {}}}}));
    assert_eq!(
        *world.owned("two"),
        json!({"f:list": {p: {".": {}, "f:name": {}, "f:note": {}}, q: {".": {}, "f:name": {}, "f:port": {}}}})
    );
    assert_eq!(names(&world.spec()["list"]), ["q", "p"], "the order of who applied last");
    assert_eq!(
        conflict(world.apply("two", &json!({"list": [{"name": "p", "port": 9}]}))),
        "Apply failed with 1 conflict: conflict with \"one\": .spec.list[name=\"p\"].port"
    );
}

#[test]
fn omitted_keys_count_with_their_defaults() {
    let mut world = World::default();
    world.apply("one", &json!({"multi": [{"port": 1, "note": "a"}]})).expect("applied");
    let item = "k:{\"port\":1,\"protocol\":\"TCP\"}";
    assert_eq!(*world.owned("one"), json!({"f:multi": {item: {".": {}, "f:note": {}, "f:port": {}}}}));
    world
        .apply("two", &json!({"multi": [{"port": 1, "protocol": "TCP"}, {"port": 1, "protocol": "UDP"}]}))
        .expect("applied");
    assert_eq!(
        world.spec()["multi"],
        json!([{"port": 1, "protocol": "TCP", "note": "a"}, {"port": 1, "protocol": "UDP"}])
    );
    world.apply("one", &json!({"multi": []})).expect("applied");
    assert_eq!(world.spec()["multi"], json!([{"port": 1, "protocol": "TCP"}, {"port": 1, "protocol": "UDP"}]));
}

#[test]
fn the_order_of_items_is_the_configurations_and_the_others_stay_in_between() {
    // The live object, the applied one, and the result.
    for (live, config, both) in [
        (&["a", "b", "c"][..], &["b"][..], &["a", "b", "c"][..]),
        (&["a", "b", "c"], &["c", "a"], &["b", "c", "a"]),
        (&["a", "b", "c", "d"], &["d", "b"], &["a", "c", "d", "b"]),
        (&["a", "b"], &["x", "b", "y"], &["a", "x", "b", "y"]),
        (&["a", "b"], &["b", "x"], &["a", "b", "x"]),
        (&["a"], &["x", "y"], &["a", "x", "y"]),
        (&["a", "b", "c"], &["c", "x", "b", "a"], &["c", "x", "b", "a"]),
        (&[], &["x"], &["x"]),
    ] {
        for key in ["list", "set"] {
            let items = |names: &[&str]| if key == "list" { ports(names) } else { json!(names) };
            let mut world = World::default();
            world.put("maker", &json!({key: items(live)}));
            world.apply("one", &json!({key: items(config)})).expect("applied");
            assert_eq!(names(&world.spec()[key]), both, "{live:?} and {config:?}");
        }
    }
}

#[test]
fn items_of_a_set_have_owners_of_their_own() {
    let mut world = World::default();
    world.apply("one", &json!({"set": ["a", "b"]})).expect("applied");
    world.apply("two", &json!({"set": ["b", "c"]})).expect("applied");
    assert_eq!(*world.owned("two"), json!({"f:set": {"v:\"b\"": {}, "v:\"c\"": {}}}));
    world.apply("one", &json!({"set": ["a"]})).expect("applied");
    assert_eq!(world.spec()["set"], json!(["a", "b", "c"]), "b has another owner");
    world.apply("two", &json!({})).expect("applied");
    assert_eq!(world.spec()["set"], json!(["a"]));
}

#[test]
fn atomic_values_are_owned_as_a_whole() {
    let mut world = World::default();
    let spec = json!({"seq": ["x"], "whole": {"p": "1"}, "fixed": {"k": "1"}, "wholes": [{"p": "1", "q": "1"}]});
    world.apply("one", &spec).expect("applied");
    let item = "k:{\"p\":\"1\"}";
    assert_eq!(*world.owned("one"), json!({"f:fixed": {}, "f:seq": {}, "f:whole": {}, "f:wholes": {item: {}}}));
    let other = json!({"seq": ["x", "y"], "whole": {"q": "2"}, "fixed": {"l": "2"}, "wholes": [{"p": "1"}]});
    let told = "Apply failed with 4 conflicts: conflicts with \"one\":\n- .spec.fixed\n- .spec.seq\n- .spec.whole\n\
                - .spec.wholes[p=\"1\"]";
    assert_eq!(conflict(world.apply("two", &other)), told);
    world.force("two", &other);
    assert_eq!(
        *world.spec(),
        json!({"d": "filled", "seq": ["x", "y"], "whole": {"q": "2"}, "fixed": {"l": "2"}, "wholes": [{"p": "1"}]})
    );
}

#[test]
fn empty_and_absent_are_distinguished() {
    let mut world = World::default();
    world.apply("one", &json!({"map": {}, "set": [], "list": [], "seq": [], "nested": {}})).expect("applied");
    assert_eq!(
        *world.owned("one"),
        json!({"f:map": {}, "f:nested": {}, "f:seq": {}}),
        "an empty granular list is unowned"
    );
    assert_eq!(
        *world.spec(),
        json!({"d": "filled", "map": {}, "set": [], "list": [], "seq": [], "nested": {"d": "in"}})
    );
    world.apply("two", &json!({"map": {"k": "v"}})).expect("applied");
    world.apply("one", &json!({"map": {}})).expect("applied");
    assert_eq!(world.spec()["map"], json!({"k": "v"}));
}

#[test]
fn duplicate_items_in_an_object_are_tolerated() {
    let mut world = World::default();
    world.put(
        "maker",
        &json!({"list": [{"name": "p", "port": 1}, {"name": "p", "port": 2}, {"name": "q"}], "set": ["x", "x"]}),
    );
    let (p, q) = ("k:{\"name\":\"p\"}", "k:{\"name\":\"q\"}");
    let items = json!({".": {}, p: {}, q: {".": {}, "f:name": {}, "f:protocol": {}}});
    assert_eq!(world.owned("maker")["f:list"], items, "only that they are there counts");
    world.apply("one", &json!({"list": [{"name": "q", "port": 7}]})).expect("others are left alone");
    assert_eq!(world.spec()["list"].as_array().map(Vec::len), Some(3));
    world.force("one", &json!({"list": [{"name": "p", "port": 3}], "set": ["x"]}));
    assert_eq!(world.spec()["set"], json!(["x"]), "who names one has one of it");
    let all_p: Vec<_> =
        world.spec()["list"].as_array().expect("a list").iter().filter(|item| item["name"] == "p").collect();
    assert_eq!(all_p, [&json!({"name": "p", "port": 3, "protocol": "TCP"})]);
}
