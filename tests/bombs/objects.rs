//! Objects with many parts that are compared with each other, matched, or counted.
use serde_json::{Value, json};

use crate::{Bomb, CONFIG_MAPS, SAMPLES};

const LONG: usize = 3_000_000;

fn many(times: usize, item: impl Fn(usize) -> Value) -> Value {
    (0..times).map(item).collect()
}

fn named(times: usize, value: impl Fn(usize) -> Value) -> Value {
    Value::Object((0..times).map(|number| (format!("n{number}"), value(number))).collect())
}

/// Field sets that nest.
fn nested_fields(depth: usize) -> Value {
    (0..depth).fold(json!({}), |inner, _| json!({"f:a": inner}))
}

fn manager(number: usize, fields: &Value) -> Value {
    json!({"manager": format!("m{number}"), "operation": "Update", "apiVersion": "fuzz.example.com/v1", "time": "2026-01-02T03:04:05Z",
        "fieldsType": "FieldsV1", "fieldsV1": fields})
}

pub(crate) fn all() -> Vec<Bomb> {
    let metadata = |name: &str, value: Value| json!({"metadata": {"name": "a", name: value}, "spec": {}});
    let spec = |name: &str, value: Value| json!({"metadata": {"name": "a"}, "spec": {name: value}});
    let long = |letter: &str| Value::from(letter.repeat(LONG));
    let expression = |n: usize| json!({"key": format!("k{n}"), "operator": "In", "values": ["a"]});
    let owner = |n: usize| json!({"apiVersion": "v1", "kind": "K", "name": "n", "uid": format!("{n}")});
    let controller = |n: usize| {
        let mut owner = owner(n);
        owner["controller"] = true.into();
        owner
    };
    let rows = [
        ("a long name", metadata("name", long("a")), 422),
        ("a long prefix of a name", metadata("generateName", long("a")), 422),
        ("labels", metadata("labels", named(100_000, |_| "a".into())), 201),
        ("labels of no value", metadata("labels", named(60_000, |_| "?".into())), 422),
        ("a long label", metadata("labels", json!({"a": long("a")})), 422),
        ("annotations", metadata("annotations", named(100_000, |_| "a".into())), 422),
        ("finalizers", metadata("finalizers", many(150_000, |n| format!("a/{n}").into())), 413),
        ("finalizers of no name", metadata("finalizers", many(150_000, |_| "?".into())), 422),
        ("owners", metadata("ownerReferences", many(30_000, owner)), 400),
        ("controllers", metadata("ownerReferences", many(20_000, controller)), 422),
        ("managers", metadata("managedFields", many(12_000, |n| manager(n, &json!({"f:spec": {}})))), 201),
        ("a manager of nested fields", metadata("managedFields", json!([manager(0, &nested_fields(240))])), 201),
        (
            "a manager of many fields",
            metadata("managedFields", json!([manager(0, &named(80_000, |_| json!({})))])),
            201,
        ),
        ("a set", spec("tags", many(80_000, |n| n.to_string().into())), 201),
        ("a set of the same", spec("tags", many(420_000, |_| "a".into())), 422),
        ("a map", spec("parts", many(40_000, |n| json!({"name": n.to_string()}))), 201),
        ("a map of the same", spec("parts", many(40_000, |_| json!({"name": "a"}))), 422),
        ("a map by two keys", spec("doors", many(20_000, |n| json!({"host": format!("h{n}"), "port": n}))), 201),
        ("a map by defaults of its keys", spec("doors", many(40_000, |_| json!({"host": "a"}))), 422),
        ("wrong types", spec("arguments", many(400_000, Value::from)), 400),
        ("wrong values", spec("parts", many(50_000, |_| json!({}))), 422),
        (
            "quantities",
            spec("nested", json!({"a": {"name": "a", "limits": named(50_000, |_| "1e999999999".into())}})),
            201,
        ),
        ("a quantity of digits", spec("quantity", long("9")), 201),
        ("a quantity with an exponent", spec("quantity", "1e999999999".into()), 201),
        ("a quantity with a long exponent", spec("quantity", format!("1e{}", "9".repeat(LONG)).into()), 400),
        ("a time of digits", spec("time", long("9")), 400),
        ("base64", spec("bytes", long("QUJD").as_str().map(|text| text[..LONG].into()).unwrap_or_default()), 201),
        ("line breaks in base64", spec("bytes", "\n".repeat(LONG / 2).into()), 201),
        ("an unknown color", spec("color", long("a")), 422),
        ("expressions", spec("selector", json!({"matchExpressions": many(15_000, expression)})), 201),
    ];
    let post = |(name, object, status): (&str, Value, u16)| {
        Bomb::post(format!("object: {name}"), "application/json", object.to_string(), status)
    };
    rows.into_iter().map(post).chain(others()).collect()
}

/// Bombs other than posts of a sample in JSON.
fn others() -> Vec<Bomb> {
    let spec = |name: &str, value: Value| json!({"metadata": {"name": "a"}, "spec": {name: value}});
    let long = |letter: &str| Value::from(letter.repeat(LONG));
    let mut all = Vec::new();
    all.push(deletion("preconditions in preconditions", "{\"preconditions\":".repeat(180_000), 400));
    all.push(deletion("dry runs", json!({"dryRun": many(500_000, |_| "x".into())}).to_string(), 400));
    all.push(deletion("a long policy", json!({"propagationPolicy": long("a")}).to_string(), 422));
    let deep = (0..240).fold(many(300_000, |_| 0.into()), |inner, _| json!([inner]));
    let deep = Bomb::post("object: nested, as YAML", "application/json", spec("raw", deep).to_string(), 201);
    let yaml = vec![("content-type", "application/json".to_owned()), ("accept", "application/yaml".to_owned())];
    all.push(Bomb { headers: yaml, ..deep });
    let parts = |note: &str| spec("parts", many(15_000, |n| json!({"name": format!("p{n}"), "note": note})));
    let merge = "application/merge-patch+json";
    all.push(Bomb::patch("object: a map that changes", merge, parts("a"), parts("b").to_string(), 200));
    let keys = json!({"metadata": {"name": "a"}, "data": named(100_000, |_| "a".into())}).to_string();
    all.push(Bomb {
        path: CONFIG_MAPS.to_owned(),
        ..Bomb::post("object: keys of a ConfigMap", "application/json", keys, 201)
    });
    all
}

fn deletion(name: &str, body: String, status: u16) -> Bomb {
    let post = Bomb::post(format!("deletion: {name}"), "application/json", body, status);
    Bomb { method: "DELETE", path: format!("{SAMPLES}/ready"), ..post }
}
