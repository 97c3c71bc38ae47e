//! Invalid bodies: valid objects and patches with mutations, and noise.

use kindsmith_tests::Random;
use serde_json::{Value, json};

/// A kind of object to send.
#[derive(Clone, Copy)]
pub(crate) enum Thing {
    ConfigMap,
    Secret,
    Event,
    Namespace,
    Lease,
    Leaf,
}

impl Thing {
    /// A valid object of the kind.
    pub(crate) fn object(self, name: &str) -> Value {
        let meta = json!({"name": name, "labels": {"app": "a"}, "annotations": {"note": "x"}});
        match self {
            Self::ConfigMap => json!({
                "apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": {"k": "v"}, "binaryData": {"b": "AA=="},
            }),
            Self::Secret => json!({
                "apiVersion": "v1", "kind": "Secret", "metadata": meta, "data": {"k": "dg=="}, "type": "Opaque",
            }),
            Self::Event => json!({
                "apiVersion": "v1", "kind": "Event", "metadata": meta, "reason": "R", "count": 1,
                "involvedObject": {"kind": "ConfigMap", "namespace": "default", "name": "a"},
            }),
            Self::Namespace => json!({"apiVersion": "v1", "kind": "Namespace", "metadata": meta}),
            Self::Lease => json!({
                "apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": meta,
                "spec": {"holderIdentity": "x", "leaseDurationSeconds": 3, "renewTime": "2026-01-02T03:04:05.000006Z"},
            }),
            Self::Leaf => json!({
                "apiVersion": "wire.example.com/v1", "kind": "Leaf",
                "metadata": {"name": name, "finalizers": ["wire.example.com/hold"], "ownerReferences": [{
                    "apiVersion": "v1", "kind": "ConfigMap", "name": "a", "uid": "u", "controller": true,
                }]},
                "spec": {"color": "Red", "veins": 3, "notes": {"a": "b"}, "places": [{"name": "here"}, {"name": "there"}]},
                "status": {"veins": 2},
            }),
        }
    }
}

/// A valid patch of most objects: a list of operations, or an object to merge.
pub(crate) fn patch(random: &mut Random, operations: bool) -> Value {
    if operations {
        let all = [
            json!({"op": "add", "path": "/metadata/labels/x", "value": "y"}),
            json!({"op": "test", "path": "/metadata/labels/app", "value": "a"}),
            json!({"op": "copy", "from": "/metadata/labels", "path": "/metadata/annotations"}),
            json!({"op": "move", "from": "/metadata/labels/app", "path": "/metadata/labels/moved"}),
            json!({"op": "remove", "path": "/spec/places/0"}),
            json!({"op": "add", "path": "/spec/places/-", "value": {"name": "far"}}),
            json!({"op": "replace", "path": "", "value": {}}),
        ];
        return (0..=random.below(3)).map(|_| random.pick(&all).clone()).collect();
    }
    let all = [
        json!({"metadata": {"labels": {"x": null, "y": "z"}, "finalizers": null}}),
        json!({"spec": {"places": [{"name": "near"}], "veins": 7}}),
        json!({"data": {"k": null, "other": "w"}}),
        json!({"spec": {"replicas": 3}}),
    ];
    random.pick(&all).clone()
}

/// Options of a deletion.
pub(crate) fn delete_options() -> Value {
    json!({
        "apiVersion": "v1", "kind": "DeleteOptions", "preconditions": {"uid": "x", "resourceVersion": "1"},
        "gracePeriodSeconds": 0, "propagationPolicy": "Foreground", "dryRun": ["All"],
    })
}

/// A body with zero or more mutations, as bytes.
pub(crate) fn bent(random: &mut Random, mut value: Value) -> Vec<u8> {
    for _ in 0..[0, 0, 1, 1, 2, 3][random.below(6)] {
        bend(random, &mut value, 6);
    }
    let mut text = value.to_string();
    match random.below(60) {
        0 => text = "[".repeat(random.below(20_000)),
        1 => text = format!("{}1{}", "{\"a\":".repeat(300), "}".repeat(300)),
        2 => text = text.chars().take(random.below(text.len() + 1)).collect(),
        3 => text = text.replacen("\"metadata\":", "\"metadata\":{\"name\":\"a\"},\"metadata\":", 1),
        4 => text += "{}",
        5 => text = format!("\u{feff}{text}"),
        6 => text = String::new(),
        7 => text = text.replace("\"a\"", "\"\\ud800\""),
        8 => text = format!("{{\"metadata\":{{\"name\":\"big\"}},\"data\":{{\"k\":\"{}\"}}}}", "x".repeat(4 << 20)),
        _ => {}
    }
    let mut bytes = text.into_bytes();
    if random.one_in(30) && !bytes.is_empty() {
        let at = random.below(bytes.len());
        bytes[at] = u8::try_from(random.below(256)).unwrap_or(0);
    }
    bytes
}

/// Changes a random part of the value.
fn bend(random: &mut Random, value: &mut Value, depth: usize) {
    let deeper = depth > 0 && !random.one_in(4);
    match value {
        Value::Object(map) if deeper && !map.is_empty() => {
            let key = map.keys().nth(random.below(map.len())).cloned().unwrap_or_default();
            match random.below(8) {
                0 => drop(map.remove(&key)),
                1 => drop(map.insert("unknownField".into(), odd(random))),
                2 => drop(map.remove(&key).and_then(|inner| map.insert(format!("{key}/~"), inner))),
                _ => bend(random, map.get_mut(&key).unwrap_or(&mut Value::Null), depth - 1),
            }
        }
        Value::Array(items) if deeper && !items.is_empty() => {
            let at = random.below(items.len());
            match random.below(5) {
                0 => items.push(items[at].clone()),
                1 => drop(items.remove(at)),
                _ => bend(random, &mut items[at], depth - 1),
            }
        }
        _ => *value = odd(random),
    }
}

fn odd(random: &mut Random) -> Value {
    match random.below(22) {
        0 => Value::Null,
        1 => json!(true),
        2 => json!(-1),
        3 => json!(i64::MAX),
        4 => json!(u64::MAX),
        5 => json!(1e308),
        6 => json!(0.5),
        7 => json!(""),
        8 => json!("x".repeat(random.below(5000))),
        9 => json!("\u{0}\u{1f4a9}\u{202e}"),
        10 => json!([]),
        11 => json!({}),
        12 => json!([[[[[[[[]]]]]]]]),
        13 => json!({"a": {"b": [null, {"c": 1}]}}),
        14 => json!("/metadata/labels/~2"),
        15 => json!("/spec/places/99999999999999999999"),
        16 => json!("/-"),
        17 => json!("9999-99-99T99:99:99Z"),
        18 => json!("UPPER_case!"),
        19 => json!("kubernetes.io/not-a-qualified-name/at/all"),
        20 => json!((0..random.below(300)).map(|n| n.to_string()).collect::<Vec<_>>()),
        _ => json!("99999999999999999999999999"),
    }
}
