//! Field sets and FieldsV1.
use serde_json::{Value, json};

use crate::{
    codec,
    patch::apply::{field_set::FieldSet, path_element::PathElement},
};

fn written(set: &FieldSet<'_>) -> Value {
    serde_json::to_value(set).expect("JSON")
}

fn set(value: &Value) -> FieldSet<'_> {
    FieldSet::read(value).expect("a set")
}

#[test]
fn sets_round_trip() {
    for stored in [
        json!({}),
        json!({"f:a": {}, "f:b": {".": {}, "f:c": {}}, "f:d": {"f:e": {}}}),
        json!({"f:l": {"k:{\"name\":\"x\",\"port\":80}": {".": {}, "f:name": {}}, "v:\"a\"": {}, "v:1": {}, "v:true": {}}}),
        json!({"f:ä\u{1}\u{8}\u{7f}": {}, "k:{\"n\":10}": {}, "k:{\"n\":9}": {}}),
        json!({"f:s": {"v:\"a\\u003cb\\u0026\"": {}, "v:\"\\\"\\\\\\n\"": {}, "v:null": {}, "v:1.5": {}}, "i:3": {}}),
    ] {
        assert_eq!(written(&set(&stored)), stored);
        let mut text = Vec::new();
        codec::encode(&stored, &mut text);
        assert_eq!(serde_json::to_vec(&set(&stored)).expect("JSON"), text, "the same as text");
    }
}

#[test]
fn paths_are_printed_as_in_kube_apiserver() {
    let stored = json!({"f:a": {"f:z": {}, "f:b": {"f:c": {}}}, "f:l": {".": {}, "k:{\"n\":\"x\\\"y\",\"p\":8}": {"f:q": {}}},
        "f:s": {"v:\"t\"": {}}, "i:2": {}});
    assert_eq!(
        set(&stored).print(&mut usize::MAX.clone()).0,
        [".l", "[2]", ".a.z", ".a.b.c", ".l[n=\"x\\\"y\",p=8].q", ".s[=\"t\"]"]
    );
}

#[test]
fn unknown_elements_are_dropped_and_invalid_ones_refused() {
    assert_eq!(written(&set(&json!({"f:a": {"x:new": {"f:b": {}}}, "x:new": {}}))), json!({"f:a": {}}));
    assert_eq!(written(&set(&json!({"f:a": null}))), json!({"f:a": {}}));
    for wrong in [
        json!([]),
        json!("f:a"),
        json!({"f": {}}),
        json!({"": {}}),
        json!({"name": {}}),
        json!({"f:a": 1}),
        json!({"v:": {}}),
        json!({"v:\"a\" 1": {}}),
        json!({"k:[]": {}}),
        json!({"k:{": {}}),
        json!({"i:x": {}}),
    ] {
        assert!(FieldSet::read(&wrong).is_err(), "{wrong}");
    }
}

#[test]
fn deep_sets_are_safe() {
    let mut deep = json!({});
    for _ in 0..990 {
        deep = json!({"f:a": deep});
    }
    let set = set(&deep);
    assert_eq!(written(&set), deep);
    let mut rest = set.clone();
    rest.add(set.clone());
    assert!(rest.contains(&set) && rest.intersection(&set) == set);
    rest.subtract(&set);
    assert!(rest.is_empty());
}

#[test]
fn one_element_in_two_spellings_is_one() {
    let twice = json!({"f:l": {"k:{\"a\":1,\"b\":2}": {"f:x": {}}, "k:{\"b\":2, \"a\":1.0}": {"f:y": {}}}});
    assert_eq!(written(&set(&twice)), json!({"f:l": {"k:{\"a\":1,\"b\":2}": {"f:x": {}, "f:y": {}}}}));
}

#[test]
fn numbers_are_in_the_order_of_numbers() {
    let keys = json!({"f:l": {"k:{\"p\":8080}": {}, "k:{\"p\":9}": {}, "k:{\"p\":443}": {}}});
    assert_eq!(set(&keys).print(&mut usize::MAX.clone()).0, [".l[p=9]", ".l[p=443]", ".l[p=8080]"]);
}

#[test]
fn the_algebra_of_sets() {
    let (a, b) = (
        json!({"f:a": {}, "f:b": {".": {}, "f:x": {}, "f:y": {}}, "f:c": {"f:z": {}}}),
        json!({"f:b": {".": {}, "f:x": {}}, "f:c": {}, "f:d": {}}),
    );
    let (a, b) = (set(&a), set(&b));
    let changed = |change: &dyn Fn(&mut FieldSet<'_>)| {
        let mut changed = a.clone();
        change(&mut changed);
        written(&changed)
    };
    assert_eq!(changed(&|set| set.add(FieldSet::default())), written(&a));
    let mut sum = a.clone();
    sum.add(b.clone());
    let both = json!({"f:a": {}, "f:b": {".": {}, "f:x": {}, "f:y": {}}, "f:c": {".": {}, "f:z": {}}, "f:d": {}});
    assert_eq!(written(&sum), both);
    assert_eq!(changed(&|set| set.subtract(&b)), json!({"f:a": {}, "f:b": {"f:y": {}}, "f:c": {"f:z": {}}}));
    assert_eq!(changed(&|set| set.subtract_recursively(&b)), json!({"f:a": {}}));
    assert_eq!(written(&a.intersection(&b)), json!({"f:b": {".": {}, "f:x": {}}}));
    assert!(sum.contains(&a) && sum.contains(&b) && !a.contains(&b) && !b.contains(&a));
    let path = [PathElement::Field("b"), PathElement::Field("y")];
    assert!(a.has(&path) && !b.has(&path) && !a.has(&[]));
}
