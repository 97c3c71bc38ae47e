//! Tests of strategic merge patch: what each directive does, and how each mistake is refused.
use serde_json::{Value, json};

use self::diff::diff;
use super::{PatchError, apply};
use crate::schema::{
    Schema,
    fixture::{form, schema},
};

mod diff;
mod property;

/// A kind with a list of each sort.
fn sample() -> Schema {
    let item = json!({"type": "object", "properties": {
        "name": {"type": "string"}, "port": {"type": "integer"}, "note": {"type": "string"},
        "tags": {"type": "array", "x-kubernetes-patch-strategy": "merge", "items": {"type": "string"}},
        "limits": {"type": "object", "additionalProperties": {"type": "string"}}}});
    schema(&json!({"type": "object", "properties": {
        "ports": {"type": "array", "items": item,
            "x-kubernetes-patch-strategy": "merge", "x-kubernetes-patch-merge-key": "name"},
        "kept": {"type": "array", "items": item,
            "x-kubernetes-patch-strategy": "merge,retainKeys", "x-kubernetes-patch-merge-key": "name"},
        "keyless": {"type": "array", "items": item, "x-kubernetes-patch-strategy": "merge"},
        "plain": {"type": "array", "items": item},
        "tags": {"type": "array", "x-kubernetes-patch-strategy": "merge", "items": {"type": "string"}},
        "rows": {"type": "array", "x-kubernetes-patch-strategy": "merge",
            "items": {"type": "array", "items": {"type": "integer"}}},
        "data": {"type": "object", "additionalProperties": {"type": "string"}},
        "strategy": {"type": "object", "x-kubernetes-patch-strategy": "retainKeys", "properties": {
            "type": {"type": "string"}, "rolling": {"type": "object", "properties": {"surge": {"type": "integer"}}}}},
        "stored": {"type": "object", "x-kubernetes-embedded-resource": true,
            "x-kubernetes-preserve-unknown-fields": true},
        "groups": {"type": "object", "additionalProperties": {"type": "object", "properties": {
            "members": {"type": "array", "items": item,
                "x-kubernetes-patch-strategy": "merge", "x-kubernetes-patch-merge-key": "name"}}}},
        "any": {"x-kubernetes-preserve-unknown-fields": true}}}))
}

fn check(cases: &[(&str, Value, Value, Value)]) {
    for (what, document, patch, result) in cases {
        assert_eq!(apply(&sample(), document, patch).as_ref(), Ok(result), "{what}");
    }
}

#[test]
fn objects_are_merged_and_null_removes() {
    check(&[
        ("merge", json!({"data": {"a": "1"}}), json!({"data": {"b": "2"}}), json!({"data": {"a": "1", "b": "2"}})),
        ("null", json!({"data": {"a": "1", "b": "2"}}), json!({"data": {"a": null}}), json!({"data": {"b": "2"}})),
        ("nothing to remove", json!({"data": {}}), json!({"data": {"a": null}, "x": null}), json!({"data": {}})),
        ("null in what is new", json!({}), json!({"data": {"a": null, "b": "2"}}), json!({"data": {"b": "2"}})),
        ("another type", json!({"data": [1]}), json!({"data": {"a": "1", "b": null}}), json!({"data": {"a": "1"}})),
        ("unknown fields", json!({"x": {"y": 1}}), json!({"x": {"z": 2}}), json!({"x": {"y": 1, "z": 2}})),
        ("an unknown list", json!({"any": {"l": [1]}}), json!({"any": {"l": [2]}}), json!({"any": {"l": [2]}})),
        (
            "a map of structs",
            json!({"groups": {"a": {"members": [{"name": "x"}]}, "b": {}}}),
            json!({"groups": {"a": {"members": [{"name": "y"}]}, "b": null}}),
            json!({"groups": {"a": {"members": [{"name": "y"}, {"name": "x"}]}}}),
        ),
    ]);
}

#[test]
fn objects_are_replaced_and_deleted_by_directives() {
    check(&[
        (
            "replace",
            json!({"data": {"a": "1"}}),
            json!({"data": {"$patch": "replace", "b": "2"}}),
            json!({"data": {"b": "2"}}),
        ),
        ("delete", json!({"data": {"a": "1"}}), json!({"data": {"$patch": "delete", "b": "2"}}), json!({"data": {}})),
        ("what is not there", json!({}), json!({"data": {"$patch": "replace", "b": "2"}}), json!({})),
        (
            "the whole object, which keeps its kind",
            json!({"apiVersion": "v1", "kind": "K", "data": {"a": "1"}}),
            json!({"$patch": "replace", "tags": ["t"]}),
            json!({"apiVersion": "v1", "kind": "K", "tags": ["t"]}),
        ),
        ("a directive in something new", json!({}), json!({"any": {"x": {"$patch": "delete"}}}), json!({"any": {}})),
    ]);
}

#[test]
fn only_the_keys_to_retain_stay() {
    check(&[
        (
            "a struct",
            json!({"strategy": {"type": "Rolling", "rolling": {"surge": 1}}}),
            json!({"strategy": {"$retainKeys": ["type"], "type": "Recreate"}}),
            json!({"strategy": {"type": "Recreate"}}),
        ),
        (
            "with what the patch removes",
            json!({"strategy": {"type": "Rolling", "rolling": {"surge": 1}}}),
            json!({"strategy": {"$retainKeys": ["rolling"], "type": null, "rolling": {"surge": 2}}}),
            json!({"strategy": {"rolling": {"surge": 2}}}),
        ),
        (
            "the root, as recorded",
            json!({"apiVersion": "v1", "kind": "K", "metadata": {"name": "n"}, "ports": [{"name": "only"}], "data": {}}),
            json!({"$retainKeys": ["metadata", "ports"], "ports": [{"name": "kept"}]}),
            json!({"apiVersion": "v1", "kind": "K", "metadata": {"name": "n"},
                "ports": [{"name": "kept"}, {"name": "only"}]}),
        ),
        (
            "an item",
            json!({"ports": [{"name": "a", "port": 1, "note": "n"}]}),
            json!({"ports": [{"$retainKeys": ["name", "port"], "name": "a", "port": 2}]}),
            json!({"ports": [{"name": "a", "port": 2}]}),
        ),
    ]);
}

#[test]
fn lists_are_merged_by_key() {
    let two = json!({"ports": [{"name": "one"}, {"name": "two"}]});
    check(&[
        (
            "as recorded",
            two.clone(),
            json!({"ports": [{"name": "two", "note": "p"}, {"name": "three"}]}),
            json!({"ports": [{"name": "one"}, {"name": "two", "note": "p"}, {"name": "three"}]}),
        ),
        (
            "delete",
            two.clone(),
            json!({"ports": [{"$patch": "delete", "name": "one"}]}),
            json!({"ports": [{"name": "two"}]}),
        ),
        (
            "delete and add again",
            json!({"ports": [{"name": "one", "port": 1}]}),
            json!({"ports": [{"name": "one", "note": "n"}, {"$patch": "delete", "name": "one"}]}),
            json!({"ports": [{"name": "one", "note": "n"}]}),
        ),
        (
            "delete and add again, further on",
            two.clone(),
            json!({"ports": [{"$patch": "delete", "name": "one"}, {"name": "two"}, {"name": "one"}]}),
            json!({"ports": [{"name": "two"}, {"name": "one"}]}),
        ),
        (
            "replace",
            two.clone(),
            json!({"ports": [{"$patch": "replace"}, {"name": "only"}, {"$patch": "delete", "name": "x"}]}),
            json!({"ports": [{"name": "only"}]}),
        ),
        (
            "twice in the patch",
            two.clone(),
            json!({"ports": [{"name": "x", "port": 1}, {"name": "x", "note": "n"}]}),
            json!({"ports": [{"name": "x", "port": 1, "note": "n"}, {"name": "one"}, {"name": "two"}]}),
        ),
        (
            "lists of items",
            json!({"ports": [{"name": "a", "tags": ["x"], "limits": {"c": "1"}}]}),
            json!({"ports": [{"name": "a", "tags": ["y"], "limits": {"c": null}}]}),
            json!({"ports": [{"name": "a", "tags": ["y", "x"], "limits": {}}]}),
        ),
        (
            "a new list",
            json!({}),
            json!({"ports": [{"$patch": "delete", "name": "a"}, {"name": "b"}]}),
            json!({"ports": [{"name": "b"}]}),
        ),
        (
            "without strategy",
            json!({"plain": [{"name": "a"}]}),
            json!({"plain": [{"port": 1}]}),
            json!({"plain": [{"port": 1}]}),
        ),
        ("emptied", json!({"plain": [{"name": "a"}]}), json!({"plain": []}), json!({"plain": []})),
        ("nothing", two.clone(), json!({"ports": []}), two),
    ]);
}

#[test]
fn the_order_of_lists_can_be_set() {
    let four: Value = ["a", "b", "c", "d"].iter().map(|name| json!({"name": name})).collect();
    let named = |names: &[&str]| names.iter().map(|name| json!({"name": name})).collect::<Value>();
    check(&[
        (
            "as recorded",
            json!({"ports": [{"name": "two"}, {"name": "three"}]}),
            json!({"$setElementOrder/ports": named(&["three", "four", "two"]), "ports": [{"name": "four"}]}),
            json!({"ports": named(&["three", "four", "two"])}),
        ),
        (
            "items that only the server has stay where they stood",
            json!({"ports": four}),
            json!({"$setElementOrder/ports": named(&["d", "b", "x"]), "ports": [{"name": "x"}]}),
            json!({"ports": named(&["a", "c", "d", "b", "x"])}),
        ),
        (
            "order alone",
            json!({"ports": four}),
            json!({"$setElementOrder/ports": named(&["d", "c", "b", "a"])}),
            json!({"ports": named(&["d", "c", "b", "a"])}),
        ),
        (
            "deletions beside an order",
            json!({"ports": four}),
            json!({"$setElementOrder/ports": named(&["d", "a"]),
                "ports": [{"$patch": "delete", "name": "b"}, {"$patch": "delete", "name": "c"}]}),
            json!({"ports": named(&["d", "a"])}),
        ),
        (
            "a new list",
            json!({}),
            json!({"$setElementOrder/ports": named(&["b", "a"]), "ports": named(&["b", "a"])}),
            json!({"ports": named(&["b", "a"])}),
        ),
        ("no list at all", json!({}), json!({"$setElementOrder/ports": named(&["b"])}), json!({})),
        (
            "scalars",
            json!({"tags": ["a", "b", "c"]}),
            json!({"$setElementOrder/tags": ["c", "x", "a"], "$deleteFromPrimitiveList/tags": ["b"], "tags": ["x"]}),
            json!({"tags": ["c", "x", "a"]}),
        ),
    ]);
}

#[test]
fn scalars_are_merged_as_a_set() {
    check(&[
        ("as recorded", json!({"tags": ["f1"]}), json!({"tags": ["f2"]}), json!({"tags": ["f2", "f1"]})),
        (
            "each once",
            json!({"tags": ["a", "b", "a"]}),
            json!({"tags": ["b", "c", "b"]}),
            json!({"tags": ["a", "b", "c"]}),
        ),
        (
            "deletions",
            json!({"tags": ["a", "b", "a"]}),
            json!({"$deleteFromPrimitiveList/tags": ["a", "z"]}),
            json!({"tags": ["b"]}),
        ),
        (
            "deletions come before additions",
            json!({"tags": ["a", "b"]}),
            json!({"$deleteFromPrimitiveList/tags": ["a"], "tags": ["a"]}),
            json!({"tags": ["a", "b"]}),
        ),
        ("nothing to delete from", json!({}), json!({"$deleteFromPrimitiveList/tags": ["a"]}), json!({})),
        (
            "no list of what goes",
            json!({"tags": ["a"]}),
            json!({"$deleteFromPrimitiveList/tags": "a"}),
            json!({"tags": ["a"]}),
        ),
        ("all of it", json!({"tags": ["a"]}), json!({"$deleteFromPrimitiveList/tags": null}), json!({})),
    ]);
}

#[test]
fn metadata_has_the_strategies_that_all_kinds_share() {
    let owner = |uid: &str, name: &str| json!({"apiVersion": "v1", "kind": "K", "uid": uid, "name": name});
    let document = json!({"metadata": {"finalizers": ["f1"], "ownerReferences": [owner("1", "a"), owner("2", "b")],
        "managedFields": [{"manager": "m"}]}});
    let patch = json!({"metadata": {"finalizers": ["f2"], "managedFields": [{}],
        "ownerReferences": [{"uid": "2", "name": "c"}, {"$patch": "delete", "uid": "1"}]}});
    let result = json!({"metadata": {"finalizers": ["f2", "f1"], "managedFields": [{}],
        "ownerReferences": [owner("2", "c")]}});
    assert_eq!(apply(&sample(), &document, &patch).as_ref(), Ok(&result));
    let inside = |value: &Value| json!({"stored": value});
    assert_eq!(
        apply(&sample(), &inside(&document), &inside(&patch)),
        Ok(inside(&result)),
        "also of objects in objects"
    );
}

#[test]
fn what_no_patch_may_say_is_refused() {
    let document = json!({"tags": ["a"], "ports": [{"name": "a"}], "plain": [{"name": "a"}], "keyless": [{"name": "a"}],
        "rows": [[1]], "data": {"a": "1"}});
    let invalid = |text: &str| PatchError::Invalid(text.to_owned());
    let no_key = |text: &str| PatchError::NoMergeKey(format!("map: {text} does not contain declared merge key: name"));
    let disorder = "The order in patch list:\n[map[name:x] map[name:a]]\n doesn't match $setElementOrder list:\n[map[name:a] map[name:x]]\n";
    for (patch, error) in [
        (json!([]), invalid("json: cannot unmarshal array into Go value of type map[string]interface {}")),
        (json!({"data": {"$patch": "bogus"}}), invalid("unknown patch type: bogus in map: map[$patch:bogus]")),
        (json!({"data": {"$patch": "merge"}}), invalid("unknown patch type: merge in map: map[$patch:merge]")),
        (json!({"data": {"$patch": 5}}), invalid("unknown patch type: %!s(int64=5) in map: map[$patch:5]")),
        (
            json!({"ports": [{"$patch": "merge", "name": "a"}]}),
            invalid("merging lists cannot yet be specified in the patch"),
        ),
        (json!({"ports": [{"$patch": "x"}]}), invalid("unknown patch type: x in map: map[$patch:x]")),
        (json!({"ports": [{"$patch": "delete"}]}), no_key("map[$patch:delete]")),
        (json!({"ports": [{"fieldPath": "no-key"}]}), no_key("map[fieldPath:no-key]")),
        (
            json!({"ports": [{"note": "b", "limits": {"a": [1, true, null]}}]}),
            no_key("map[limits:map[a:[1 true <nil>]] note:b]"),
        ),
        (json!({"ports": [{"$patch": "replace"}, {"port": 1}]}), no_key("map[port:1]")),
        (json!({"keyless": [{"name": "b"}]}), invalid("cannot merge lists without merge key for struct")),
        (json!({"tags": [1]}), invalid("list element types are not identical: [1]")),
        (json!({"tags": [null]}), invalid("list element types are not identical: [<nil>]")),
        (json!({"ports": ["a"]}), invalid("list element types are not identical: [a]")),
        (json!({"rows": [[2]]}), PatchError::Inapplicable("lists of lists are not supported".to_owned())),
        (json!({"data": {"$retainKeys": "a"}}), invalid("invalid patch format of retainKeys")),
        (json!({"data": {"$retainKeys": [{}]}}), invalid("invalid patch format of retainKeys")),
        (json!({"data": {"$retainKeys": ["a"], "b": "2"}}), invalid("invalid patch format of retainKeys")),
        (json!({"$deleteFromPrimitiveList": ["a"]}), invalid("invalid patch format of primitive list")),
        (json!({"$deleteFromPrimitiveList/data": {"a": "1"}}), invalid("invalid patch format of primitive list")),
        (json!({"$deleteFromPrimitiveList/ports": [{"name": "a"}]}), invalid("invalid patch format of primitive list")),
        (json!({"$setElementOrderly": []}), invalid("invalid patch format of setElementOrder list")),
        (json!({"$setElementOrder/tags": "a"}), invalid("expected a []interface {}, but received a string")),
        (
            json!({"$setElementOrder/data": ["a"]}),
            invalid("expected a []interface {}, but received a map[string]interface {}"),
        ),
        (
            json!({"$setElementOrder/tags": ["a"], "tags": null}),
            invalid("expected a []interface {}, but received a %!s(<nil>)"),
        ),
        (json!({"$setElementOrder/ports": ["a"]}), invalid("value for key 1 is not a map")),
        (json!({"$setElementOrder/ports": [{"port": 1}]}), no_key("map[port:1]")),
        (
            json!({"$setElementOrder/ports": [{"name": "a"}, {"name": "x"}], "ports": [{"name": "x"}, {"name": "a"}]}),
            invalid(disorder),
        ),
    ] {
        assert_eq!(apply(&sample(), &document, &patch), Err(error), "{patch}");
    }
}

#[test]
fn messages_stay_short() {
    let long: Vec<_> = (0..100_000).map(|number| json!({"port": number})).collect();
    match apply(&sample(), &json!({"ports": [1]}), &json!({"ports": long})) {
        Err(PatchError::Invalid(message)) => assert!(message.len() < 10_000, "{}", message.len()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn differences_are_said_as_kubectl_says_them() {
    let from = json!({"tags": ["a", "b"], "ports": [{"name": "a", "port": 1}, {"name": "b"}], "plain": [{"name": "a"}],
        "strategy": {"type": "Rolling", "rolling": {"surge": 1}}, "data": {"a": "1", "b": "2"}});
    let to = json!({"tags": ["c", "a"], "ports": [{"name": "c"}, {"name": "a", "port": 2}], "plain": [{"name": "b"}],
        "strategy": {"type": "Recreate"}, "data": {"b": "3"}});
    let patch = json!({
        "$setElementOrder/tags": ["c", "a"], "$deleteFromPrimitiveList/tags": ["b"], "tags": ["c"],
        "$setElementOrder/ports": [{"name": "c"}, {"name": "a"}],
        "ports": [{"name": "c"}, {"name": "a", "port": 2}, {"$patch": "delete", "name": "b"}],
        "plain": [{"name": "b"}],
        "strategy": {"$retainKeys": ["type"], "type": "Recreate", "rolling": null},
        "data": {"a": null, "b": "3"}});
    assert_eq!(diff(&sample(), &from, &to).as_ref(), Ok(&patch));
    assert_eq!(apply(&sample(), &from, &patch), Ok(to.clone()));
    assert_eq!(diff(&sample(), &to, &to), Ok(json!({})));
}

#[test]
fn lists_are_merged_within_recursive_types() {
    let part = |name: &str, props: Value| json!({"name": name, "props": props});
    let object = |parts: Value| json!({"spec": {"props": {"properties": {"p": {"items": {"parts": parts}}}}}});
    let old = object(json!([part("a", json!({"parts": [part("b", json!({"id": "1"}))]})), part("z", json!({}))]));
    let patch =
        object(json!([part("a", json!({"parts": [part("b", json!({"maxLength": 2})), part("c", json!({}))]}))]));
    let merged = object(json!([
        part("a", json!({"parts": [part("b", json!({"id": "1", "maxLength": 2})), part("c", json!({}))]})),
        part("z", json!({})),
    ]));
    assert_eq!(apply(&form(), &old, &patch).as_ref(), Ok(&merged));
    let back = diff(&form(), &merged, &old).expect("a patch");
    assert_eq!(apply(&form(), &merged, &back), Ok(old));
}
