//! Equality and order of values.
use super::{Dynamic, Element, Items, Json, List, ListKind, Shape, Value, display::go_double};
use crate::Unmetered;

fn equal(left: &Value<'_>, right: &Value<'_>) -> bool {
    left.equals(right, &Unmetered).unwrap()
}

#[test]
fn numbers_are_equal_across_types() {
    assert!(equal(&Value::Int(1), &Value::Uint(1)));
    assert!(equal(&Value::Double(1.0), &Value::Uint(1)));
    assert!(!equal(&Value::Double(f64::NAN), &Value::Double(f64::NAN)));
    assert!(!equal(&Value::Int(1), &Value::Bool(true)));
    assert!(!equal(&Value::Null, &Value::Int(0)));
    assert!(equal(&Value::list(vec![Value::Int(1)]), &Value::list(vec![Value::Double(1.0)])));
}

#[test]
fn maps_find_numbers_of_other_types_after_exact_ones() {
    let map = Value::map((0..20).map(|key| (Value::Int(key), Value::Int(key * 2))));
    let Value::Map(map) = map else { unreachable!() };
    assert!(equal(&map.get(&Value::Uint(7)).unwrap().unwrap(), &Value::Int(14)));
    assert!(equal(&map.get(&Value::Double(7.0)).unwrap().unwrap(), &Value::Int(14)));
    assert!(map.get(&Value::Double(7.5)).is_none());
}

fn list<'a>(json: &'a Json, kind: ListKind<'a>) -> List<'a> {
    List { items: Items::Document(json.as_array().unwrap(), &Dynamic), kind }
}

#[test]
fn sets_and_lists_with_keys_are_equal_in_any_order_and_merge() {
    let (left, right) = (serde_json::json!(["a", "b"]), serde_json::json!(["b", "a"]));
    let set = |json| Value::List(list(json, ListKind::Set));
    assert!(equal(&set(&left), &set(&right)));
    assert!(!equal(&Value::List(list(&left, ListKind::Atomic)), &set(&right)));
    let more = serde_json::json!(["c", "a"]);
    let sum = list(&left, ListKind::Set).concat(&list(&more, ListKind::Set), &Unmetered).unwrap();
    let sum: Vec<_> = sum.iter().map(|item| item.unwrap().to_string()).collect();
    assert_eq!(sum, ["a", "b", "c"]);

    let keys = ["k".to_owned()];
    let kind = ListKind::Map(&keys);
    let left = serde_json::json!([{"k": 1, "v": 1}, {"k": 2, "v": 2}]);
    let right = serde_json::json!([{"k": 2, "v": 3}, {"k": 4, "v": 4}]);
    let sum = list(&left, kind).concat(&list(&right, kind), &Unmetered).unwrap();
    let Value::List(expected) = Dynamic
        .read(&serde_json::json!([{"k": 1, "v": 1}, {"k": 2, "v": 3}, {"k": 4, "v": 4}]))
        .unwrap()
        .into_owned()
        .unwrap()
    else {
        unreachable!()
    };
    assert!(equal(&Value::List(expected), &Value::List(List { kind: ListKind::Atomic, ..sum.clone() })));
    assert!(matches!(sum.items, Items::Sum(elements, Some(_)) if matches!(elements[0], Element::Document(..))));
}

#[test]
fn doubles_print_as_go_prints_them() {
    for (value, text) in [
        (1.5, "1.5"),
        (1e6, "1e+06"),
        (123_456_789.0, "1.23456789e+08"),
        (2e-9, "2e-09"),
        (0.0001, "0.0001"),
        (100_000.0, "100000"),
    ] {
        assert_eq!(go_double(value), text);
    }
}
