//! Tests of patches: the RFCs' vectors, and properties.
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{PatchError, json::Patch, merge};
use crate::schema::{Document, Meter, fixture::documents};

fn patched(document: &Value, patch: &Value) -> Result<Value, PatchError> {
    Patch::parse(patch.to_string().as_bytes())?.apply(document, &Meter::default())
}

fn refusal(document: &Value, patch: &Value) -> String {
    match patched(document, patch) {
        Err(PatchError::Inapplicable(message)) => message,
        other => panic!("{patch} on {document}: {other:?}"),
    }
}

/// Document, patch, result: appendix A of RFC 6902, and edge cases from its text.
fn vectors() -> Vec<(Value, Value, Value)> {
    [
        r#"{"foo":"bar"} | [{"op":"add","path":"/baz","value":"qux"}] | {"baz":"qux","foo":"bar"}"#,
        r#"{"foo":["bar","baz"]} | [{"op":"add","path":"/foo/1","value":"qux"}] | {"foo":["bar","qux","baz"]}"#,
        r#"{"baz":"qux","foo":"bar"} | [{"op":"remove","path":"/baz"}] | {"foo":"bar"}"#,
        r#"{"foo":["bar","qux","baz"]} | [{"op":"remove","path":"/foo/1"}] | {"foo":["bar","baz"]}"#,
        r#"{"baz":"qux","foo":"bar"} | [{"op":"replace","path":"/baz","value":"boo"}] | {"baz":"boo","foo":"bar"}"#,
        r#"{"foo":{"bar":"baz","waldo":"fred"},"qux":{"corge":"grault"}} | [{"op":"move","from":"/foo/waldo","path":"/qux/thud"}] | {"foo":{"bar":"baz"},"qux":{"corge":"grault","thud":"fred"}}"#,
        r#"{"foo":["all","grass","cows","eat"]} | [{"op":"move","from":"/foo/1","path":"/foo/3"}] | {"foo":["all","cows","eat","grass"]}"#,
        r#"{"baz":"qux","foo":["a",2,"c"]} | [{"op":"test","path":"/baz","value":"qux"},{"op":"test","path":"/foo/1","value":2}] | {"baz":"qux","foo":["a",2,"c"]}"#,
        r#"{"foo":"bar"} | [{"op":"add","path":"/child","value":{"grandchild":{}}}] | {"foo":"bar","child":{"grandchild":{}}}"#,
        r#"{"foo":"bar"} | [{"op":"add","path":"/baz","value":"qux","xyz":123}] | {"foo":"bar","baz":"qux"}"#,
        r#"{"/":9,"~1":10} | [{"op":"test","path":"/~01","value":10},{"op":"test","path":"/~1","value":9}] | {"/":9,"~1":10}"#,
        r#"{"foo":["bar"]} | [{"op":"add","path":"/foo/-","value":["abc","def"]}] | {"foo":["bar",["abc","def"]]}"#,
        r#"{"foo":1} | [{"op":"add","path":"","value":{"x":2}}] | {"x":2}"#,
        r#"{"foo":1} | [{"op":"replace","path":"","value":[]}] | []"#,
        r#"{"":1} | [{"op":"replace","path":"/","value":2}] | {"":2}"#,
        r#"{"foo":1} | [{"op":"test","path":"/foo","value":1.0}] | {"foo":1}"#,
        r#"{"foo":1} | [{"op":"test","path":"/bar","value":null}] | {"foo":1}"#,
        r#"{"foo":null} | [{"op":"test","path":"/foo","value":null}] | {"foo":null}"#,
        r#"{"foo":null} | [{"op":"move","from":"/foo","path":"/bar"}] | {"bar":null}"#,
        r#"{"foo":1} | [{"op":"move","from":"/foo","path":"/foo"}] | {"foo":1}"#,
        r#"{"foo":{"a":1}} | [{"op":"copy","from":"/foo","path":"/foo/b"}] | {"foo":{"a":1,"b":{"a":1}}}"#,
        r#"{"a":1} | [{"op":"copy","from":"","path":"/b"}] | {"a":1,"b":{"a":1}}"#,
        r#"[1,2] | [{"op":"add","path":"/2","value":3}] | [1,2,3]"#,
        "{} | [] | {}",
    ]
    .into_iter()
    .map(|line| {
        let mut parts = line.split(" | ").map(|part| serde_json::from_str(part).expect(part));
        (parts.next().expect("document"), parts.next().expect("patch"), parts.next().expect("result"))
    })
    .collect()
}

#[test]
fn vectors_of_rfc_6902() {
    for (document, patch, result) in vectors() {
        assert_eq!(patched(&document, &patch), Ok(result), "{patch}");
    }
}

#[test]
fn operations_that_do_not_apply_have_errors() {
    let document = json!({"data": {"x": "1"}, "list": [1, 2], "text": "t"});
    for (operation, expected) in [
        (json!({"op": "test", "path": "/data/x", "value": "no"}), "testing value /data/x failed: test failed"),
        (json!({"op": "test", "path": "/data/y", "value": "1"}), "testing value /data/y failed: test failed"),
        (
            json!({"op": "remove", "path": "/data/nope"}),
            "error in remove for path: '/data/nope': Unable to remove nonexistent key: nope: missing value",
        ),
        (
            json!({"op": "add", "path": "/no/x", "value": 1}),
            "add operation does not apply: doc is missing path: /no/x: missing value",
        ),
        (
            json!({"op": "add", "path": "/text/x", "value": 1}),
            "add operation does not apply: doc is missing path: /text/x: missing value",
        ),
        (
            json!({"op": "replace", "path": "/data/no", "value": 1}),
            "replace operation does not apply: doc is missing key: /data/no: missing value",
        ),
        (
            json!({"op": "add", "path": "/list/3", "value": 1}),
            "error in add for path: '/list/3': Unable to access invalid index: 3: invalid index referenced",
        ),
        (
            json!({"op": "add", "path": "/list/01", "value": 1}),
            "error in add for path: '/list/01': Unable to access invalid index: 01: invalid index referenced",
        ),
        (
            json!({"op": "remove", "path": "/list/-"}),
            "error in remove for path: '/list/-': Unable to access invalid index: -: invalid index referenced",
        ),
        (
            json!({"op": "remove", "path": "/list/99999999999999999999"}),
            "error in remove for path: '/list/99999999999999999999': Unable to access invalid index: 99999999999999999999: invalid index referenced",
        ),
        (
            json!({"op": "move", "from": "/data", "path": "/data/x"}),
            "move operation does not apply: '/data/x' is inside of '/data'",
        ),
        (
            json!({"op": "copy", "from": "/nope", "path": "/x"}),
            "copy operation does not apply: doc is missing from path: /nope: missing value",
        ),
        (json!({"op": "remove", "path": ""}), "remove operation does not apply: the document itself cannot be removed"),
        (json!({"op": "bogus", "path": "/data"}), "Unexpected kind: bogus"),
        (json!({"path": "/data"}), "Unexpected kind: unknown"),
        (json!({"op": "add", "path": "/x"}), "add operation, missing value field: missing value"),
        (json!({"op": "add", "value": 1}), "add operation, missing path field: missing value"),
        (json!({"op": "copy", "path": "/x"}), "copy operation, missing from field: missing value"),
        (
            json!({"op": "remove", "path": "data"}),
            r#""data" is not a JSON pointer: it must be empty or begin with '/'"#,
        ),
        (json!({"op": "remove", "path": "/~2"}), r#""/~2" is not a JSON pointer: '~' must be followed by '0' or '1'"#),
    ] {
        assert_eq!(refusal(&document, &json!([operation])), expected);
    }
}

#[test]
fn malformed_patches_are_refused_before_they_are_applied() {
    let malformed = |text: &str| match Patch::parse(text.as_bytes()) {
        Err(error @ PatchError::Malformed(_)) => error.to_string(),
        other => panic!("{other:?}"),
    };
    assert_eq!(
        malformed(r#"{"not":"a list"}"#),
        "error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp"
    );
    assert_eq!(
        malformed("[1]"),
        "error decoding patch: json: cannot unmarshal number into Go value of type handlers.jsonPatchOp"
    );
    let bad = merge::parse(b"{bad").expect_err("not JSON").to_string();
    assert!(bad.starts_with("error decoding patch: invalid character 'b' looking for beginning of object key string"));
    let list = merge::parse(b"[]").expect_err("a list").to_string();
    assert_eq!(
        list,
        "error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}"
    );
    let many = Value::from(vec![json!({"op": "test", "path": "/a", "value": null}); 10_001]);
    let message = "The allowed maximum operations in a JSON patch is 10000, got 10001".to_owned();
    assert_eq!(Patch::parse(many.to_string().as_bytes()).expect_err("many"), PatchError::TooLarge(message));
}

#[test]
fn hostile_patches_end_soon() {
    let doubling = Value::from(vec![json!({"op": "copy", "from": "/a", "path": "/a/-"}); 60]);
    assert!(refusal(&json!({"a": ["x"]}), &doubling).contains("exceeding the limit"));
    let mut nesting = Vec::new();
    for depth in 0..2_000 {
        nesting.push(json!({"op": "add", "path": "/a".repeat(depth + 1), "value": {}}));
    }
    assert!(refusal(&json!({}), &Value::from(nesting)).ends_with("exceeded max depth of 256"));
    let list = json!({"l": vec![0; 200_000], "x": 1});
    let shifting = Value::from(vec![json!({"op": "add", "path": "/l/0", "value": 0}); 10_000]);
    assert!(refusal(&list, &shifting).starts_with("the request takes more than 50000000 steps"));
    let there_and_back =
        json!([{"op": "move", "from": "/l", "path": "/m"}, {"op": "move", "from": "/m", "path": "/l"}]);
    let moving: Vec<_> = there_and_back.as_array().expect("two").iter().cycle().take(10_000).cloned().collect();
    assert!(refusal(&list, &Value::from(moving)).starts_with("the request takes more than 50000000 steps"));
}

#[test]
fn vectors_of_rfc_7386() {
    for line in [
        r#"{"a":"b"} | {"a":"c"} | {"a":"c"}"#,
        r#"{"a":"b"} | {"b":"c"} | {"a":"b","b":"c"}"#,
        r#"{"a":"b"} | {"a":null} | {}"#,
        r#"{"a":"b","b":"c"} | {"a":null} | {"b":"c"}"#,
        r#"{"a":["b"]} | {"a":"c"} | {"a":"c"}"#,
        r#"{"a":"c"} | {"a":["b"]} | {"a":["b"]}"#,
        r#"{"a":{"b":"c"}} | {"a":{"b":"d","c":null}} | {"a":{"b":"d"}}"#,
        r#"{"a":[{"b":"c"}]} | {"a":[1]} | {"a":[1]}"#,
        r#"["a","b"] | ["c","d"] | ["c","d"]"#,
        r#"{"a":"b"} | ["c"] | ["c"]"#,
        r#"{"a":"foo"} | null | null"#,
        r#"{"a":"foo"} | "bar" | "bar""#,
        r#"{"e":null} | {"a":1} | {"e":null,"a":1}"#,
        r#"[1,2] | {"a":"b","c":null} | {"a":"b"}"#,
        r#"{} | {"a":{"bb":{"ccc":null}}} | {"a":{"bb":{}}}"#,
    ] {
        let parts: Vec<Value> = line.split(" | ").map(|part| serde_json::from_str(part).expect(part)).collect();
        let mut document = parts[0].clone();
        merge::apply(&mut document, &parts[1]);
        assert_eq!(document, parts[2], "{line}");
    }
}

/// The function in the text of RFC 7386, as an independent implementation.
fn merge_by_the_text(target: Option<Document>, patch: &Document) -> Document {
    let Document::Object(changes) = patch else { return patch.clone() };
    let mut fields = match target {
        Some(Document::Object(fields)) => fields,
        _ => serde_json::Map::new(),
    };
    for (name, change) in changes {
        let old = fields.remove(name);
        if !change.is_null() {
            fields.insert(name.clone(), merge_by_the_text(old, change));
        }
    }
    Document::Object(fields)
}

/// Operations between any two documents.
fn differences(from: &Document, to: &Document, path: &str, operations: &mut Vec<Document>) {
    let escaped = |name: &str| format!("{path}/{}", name.replace('~', "~0").replace('/', "~1"));
    match (from, to) {
        (Document::Object(from), Document::Object(to)) => {
            for name in from.keys().filter(|name| !to.contains_key(*name)) {
                operations.push(json!({"op": "remove", "path": escaped(name)}));
            }
            for (name, value) in to {
                match from.get(name) {
                    Some(old) => differences(old, value, &escaped(name), operations),
                    None => operations.push(json!({"op": "add", "path": escaped(name), "value": value})),
                }
            }
        }
        (Document::Array(from), Document::Array(to)) => {
            for (index, (old, new)) in from.iter().zip(to).enumerate() {
                differences(old, new, &format!("{path}/{index}"), operations);
            }
            for index in (to.len()..from.len()).rev() {
                operations.push(json!({"op": "remove", "path": format!("{path}/{index}")}));
            }
            for new in to.iter().skip(from.len()) {
                operations.push(json!({"op": "add", "path": format!("{path}/-"), "value": new}));
            }
        }
        _ if from == to => operations.push(json!({"op": "test", "path": path, "value": to})),
        _ => operations.push(json!({"op": "replace", "path": path, "value": to})),
    }
}

proptest! {
    #[test]
    fn merging_agrees_with_the_function_in_the_rfc(document in documents(), patch in documents()) {
        let mut merged = document.clone();
        merge::apply(&mut merged, &patch);
        prop_assert_eq!(&merged, &merge_by_the_text(Some(document), &patch));
        let mut again = merged.clone();
        merge::apply(&mut again, &patch);
        prop_assert_eq!(again, merged, "a merge patch changes nothing the second time");
    }

    #[test]
    fn a_patch_made_of_the_differences_leads_there(from in documents(), to in documents()) {
        let mut operations = Vec::new();
        differences(&from, &to, "", &mut operations);
        let mut text = Vec::new();
        crate::codec::encode(&Document::from(operations), &mut text);
        prop_assert_eq!(Patch::parse(&text).and_then(|patch| patch.apply(&from, &Meter::default())), Ok(to));
    }

    #[test]
    fn any_operations_are_answered_and_leave_the_document_alone(
        document in documents(),
        steps in prop::collection::vec(("add|remove|replace|move|copy|test|x", "(/[a-d01~-]{0,2}){0,3}", "(/[a-d0-]){0,2}", documents()), 0..5),
    ) {
        let operations: Vec<_> = steps
            .iter()
            .map(|(op, path, from, value)| json!({"op": op, "path": path, "from": from, "value": value}))
            .collect();
        let before = document.clone();
        let _ = patched(&document, &Document::from(operations));
        prop_assert_eq!(document, before);
    }
}
