//! Patches that grow, or that compare everything with everything.
use serde_json::{Value, json};

use crate::Bomb;

const JSON: &str = "application/json-patch+json";
const MERGE: &str = "application/merge-patch+json";
const STRATEGIC: &str = "application/strategic-merge-patch+json";
const APPLY: &str = "application/apply-patch+yaml";

fn live(spec: &Value) -> Value {
    json!({"metadata": {"name": "a"}, "spec": spec})
}

fn many(times: usize, item: impl Fn(usize) -> Value) -> Value {
    (0..times).map(item).collect()
}

fn part(number: usize) -> Value {
    json!({"name": format!("p{number}")})
}

fn json_patches() -> Vec<Bomb> {
    let operation = |op: &str, from: &str, path: &str| json!({"op": op, "from": from, "path": path, "value": "x"});
    let raw = |value: Value| live(&json!({"raw": value}));
    let bomb = |name: &str, live: Value, patch: Value, status| {
        Bomb::patch(&format!("json patch: {name}"), JSON, live, patch.to_string(), status)
    };
    let long = many(100_000, |_| 0.into());
    let copy = |_| operation("copy", "/spec/raw", "/spec/raw/-");
    let test = |_| json!({"op": "test", "path": "/spec/raw", "value": 0});
    let mut compared = vec![json!({"op": "test", "path": "/spec/raw", "value": long.clone()})];
    compared.extend((0..9_000).map(|_| operation("copy", "/spec/raw", "/spec/text")));
    let deep = |n: usize| json!({"op": "add", "path": format!("/spec/raw{}", "/a".repeat(n)), "value": {}});
    vec![
        bomb("copies double", raw(json!(["x".repeat(100)])), many(60, copy), 422),
        bomb("copies of a copy", raw(long.clone()), compared.into(), 422),
        bomb("a copy into itself", raw(json!([1])), many(10_000, |_| operation("copy", "/spec", "/spec/raw/0")), 422),
        bomb("items before the first", raw(long.clone()), many(10_000, |_| operation("add", "", "/spec/raw/0")), 413),
        bomb("items after the last", raw(long.clone()), many(10_000, |_| operation("add", "", "/spec/raw/-")), 200),
        bomb(
            "the first item removed",
            raw(long.clone()),
            many(10_000, |_| operation("remove", "", "/spec/raw/0")),
            413,
        ),
        bomb(
            "moves within a list",
            raw(long.clone()),
            many(10_000, |_| operation("move", "/spec/raw/99999", "/spec/raw/0")),
            413,
        ),
        bomb("tests", raw(long.clone()), many(10_000, test), 422),
        bomb(
            "tests of it all",
            raw(many(100, |_| 0.into())),
            many(6_000, |_| json!({"op": "test", "path": "/spec/raw", "value": many(100, |_| 0.into())})),
            400,
        ),
        bomb("operations", raw(json!(1)), many(60_000, |_| operation("test", "", "")), 400),
        bomb("a long path", raw(json!(1)), json!([operation("add", "", &"/a".repeat(1_400_000))]), 422),
        bomb("ever deeper", raw(json!({})), many(1_300, deep), 422),
        bomb(
            "empty lists",
            raw(json!(1)),
            json!([{"op": "add", "path": "/spec/raw", "value": many(900_000, |_| json!([]))}]),
            400,
        ),
    ]
}

fn merge_patches() -> Vec<Bomb> {
    let nested = "{\"a\":".repeat(250) + &"}".repeat(250);
    let raw = live(&json!({"raw": {"a": 1}}));
    let names = |value: &str| (0..200_000).map(|n| format!("\"n{n}\":{value},")).collect::<String>();
    let all = |name: &str, media_type, fields: String, status| {
        Bomb::patch(name, media_type, raw.clone(), format!("{{\"spec\":{{\"raw\":{{{fields}\"z\":0}}}}}}"), status)
    };
    vec![
        Bomb::patch("merge patch: nested", MERGE, raw.clone(), nested.clone().replace(":}", ":0}"), 200),
        Bomb::patch("merge patch: lists in lists", MERGE, raw.clone(), "[".repeat(3_000_000), 400),
        all("merge patch: nulls", MERGE, names("null"), 400),
        all("merge patch: fields", MERGE, names("{}"), 400),
        Bomb::patch("strategic: nested", STRATEGIC, raw.clone(), nested.replace(":}", ":0}"), 200),
        all("strategic: nulls", STRATEGIC, names("null"), 400),
        all("strategic: fields", STRATEGIC, names("{}"), 400),
    ]
}

fn strategic() -> Vec<Bomb> {
    let parts = live(&json!({"parts": many(10_000, part)}));
    let tags = live(&json!({"tags": many(50_000, |n| n.to_string().into())}));
    let numbers = |times| many(times, |n| format!("x{n}").into());
    let bomb = |name: &str, live: &Value, spec: Value, status| {
        Bomb::patch(&format!("strategic: {name}"), STRATEGIC, live.clone(), json!({"spec": spec}).to_string(), status)
    };
    let backwards = |times: usize| many(times, |n| part(times - 1 - n));
    let directives = many(15_000, |n| json!({"$patch": "delete", "name": format!("p{n}")}));
    vec![
        bomb("an order", &parts, json!({"$setElementOrder/parts": backwards(20_000)}), 200),
        bomb("an order of the same", &parts, json!({"$setElementOrder/parts": many(20_000, |_| part(5))}), 200),
        bomb(
            "an order and items",
            &parts,
            json!({"$setElementOrder/parts": backwards(11_000), "parts": backwards(11_000)}),
            200,
        ),
        bomb("items", &parts, json!({"parts": backwards(20_000)}), 200),
        bomb("items of the same", &parts, json!({"parts": many(20_000, |_| part(5))}), 200),
        bomb("items without a key", &parts, json!({"parts": many(20_000, |_| json!({"note": "x"}))}), 500),
        bomb("deletions", &parts, json!({"parts": directives}), 200),
        bomb("scalars", &tags, json!({"tags": numbers(50_000)}), 200),
        bomb("an order of scalars", &tags, json!({"$setElementOrder/tags": numbers(200_000)}), 200),
        bomb("deletions of scalars", &tags, json!({"$deleteFromPrimitiveList/tags": numbers(250_000)}), 200),
        bomb("keys to retain", &parts, json!({"strategy": {"$retainKeys": numbers(250_000), "type": "x"}}), 200),
        bomb(
            "orders of lists that are not there",
            &parts,
            Value::Object((0..100_000).map(|n| (format!("$setElementOrder/{n}"), json!([]))).collect()),
            200,
        ),
        bomb(
            "directives in directives",
            &parts,
            json!({"raw": (0..120).fold(json!({}), |inner, _| json!({"$patch": "replace", "a": inner}))}),
            200,
        ),
    ]
}

fn apply() -> Vec<Bomb> {
    let parts = live(&json!({"parts": many(10_000, part), "tags": many(10_000, |n| n.to_string().into())}));
    let config = |spec: Value| json!({"apiVersion": "fuzz.example.com/v1", "kind": "Sample", "metadata": {"name": "a"}, "spec": spec});
    let bomb = |name: &str, live: &Value, spec: Value, status| {
        Bomb::patch(&format!("apply: {name}"), APPLY, live.clone(), config(spec).to_string(), status)
    };
    let nested = (0..240).fold(json!({}), |inner, _| json!({"f:a": inner}));
    let entry = |n: usize, fields: Value| {
        json!({"manager": format!("m{n}"), "operation": "Update", "apiVersion": "fuzz.example.com/v1", "time": "2026-01-02T03:04:05Z",
            "fieldsType": "FieldsV1", "fieldsV1": fields})
    };
    let managed = |entries: Value| json!({"metadata": {"name": "a", "managedFields": entries}, "spec": {"text": "x"}});
    let keys = |times: usize| {
        Value::Object(
            (0..times).map(|n| (format!("k:{{\"name\":\"p{n}\"}}"), json!({".": {}, "f:name": {}}))).collect(),
        )
    };
    vec![
        bomb("items that are there", &parts, json!({"parts": many(10_000, part)}), 200),
        bomb("items", &parts, json!({"parts": many(20_000, |n| json!({"name": format!("q{n}")}))}), 200),
        bomb("a set", &parts, json!({"tags": many(50_000, |n| format!("x{n}").into())}), 200),
        bomb("a set of the same", &parts, json!({"tags": many(100_000, |_| "x".into())}), 500),
        bomb(
            "options",
            &parts,
            json!({"options": Value::Object((0..80_000).map(|n| (format!("n{n}"), "v".into())).collect())}),
            200,
        ),
        bomb("over nested fields", &managed(json!([entry(0, nested)])), json!({"text": "y"}), 409),
        bomb(
            "over many managers",
            &managed(many(5_000, |n| entry(n, json!({"f:spec": {"f:text": {}}})))),
            json!({"text": "y"}),
            409,
        ),
        bomb(
            "over fields that are not there",
            &managed(json!([entry(0, json!({"f:spec": {"f:parts": keys(20_000)}}))])),
            json!({"text": "y"}),
            409,
        ),
    ]
}

pub(crate) fn all() -> Vec<Bomb> {
    json_patches().into_iter().chain(merge_patches()).chain(strategic()).chain(apply()).collect()
}
