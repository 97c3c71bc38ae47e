//! Bodies that no client should send: sound objects and patches, bent in one place or several, and noise.

use kindsmith_tests::Random;
use serde_json::{Value, json};

/// A body as bytes.
pub fn random(random: &mut Random) -> Vec<u8> {
    let mut value = sound(random);
    for _ in 0..random.below(4) {
        bend(random, &mut value, 6);
    }
    let mut text = value.to_string();
    match random.below(30) {
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
    if random.one_in(20) && !bytes.is_empty() {
        let at = random.below(bytes.len());
        bytes[at] = u8::try_from(random.below(256)).unwrap_or(0);
    }
    bytes
}

fn sound(random: &mut Random) -> Value {
    let name = *random.pick(&["a", "b", "new", "new-1"]);
    let meta = json!({
        "name": name, "labels": {"app": "a"}, "annotations": {"note": "x"}, "finalizers": ["wire.example.com/hold"],
    });
    match random.below(12) {
        0 => {
            json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": {"k": "v"}, "binaryData": {"b": "AA=="}})
        }
        1 => json!({"apiVersion": "v1", "kind": "Secret", "metadata": meta, "data": {"k": "dg=="}, "type": "Opaque"}),
        2 | 3 => json!({
            "apiVersion": "wire.example.com/v1", "kind": "Leaf", "metadata": meta,
            "spec": {"color": "Red", "veins": 3, "notes": {"a": "b"}, "places": [{"name": "here"}, {"name": "there"}]},
            "status": {"veins": 2},
        }),
        4 => json!({
            "apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": name},
            "spec": {"holderIdentity": "x", "leaseDurationSeconds": 3, "renewTime": "2026-01-02T03:04:05.000006Z"},
        }),
        5 => json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}),
        6 => json!({
            "apiVersion": "v1", "kind": "Event", "metadata": {"name": name, "namespace": "default"},
            "involvedObject": {"kind": "ConfigMap", "namespace": "default", "name": "a"}, "reason": "R", "count": 1,
        }),
        7 => {
            json!({"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": name}, "spec": {"replicas": 2}})
        }
        8 => json!({
            "apiVersion": "v1", "kind": "DeleteOptions", "preconditions": {"uid": "x", "resourceVersion": "1"},
            "gracePeriodSeconds": 0, "propagationPolicy": "Foreground", "dryRun": ["All"],
        }),
        9 => json!([
            {"op": "add", "path": "/metadata/labels/x", "value": "y"}, {"op": "test", "path": "/spec/veins", "value": 3},
            {"op": "copy", "from": "/spec", "path": "/status"}, {"op": "move", "from": "/data/k", "path": "/data/m"},
            {"op": "remove", "path": "/spec/places/0"}, {"op": "replace", "path": "", "value": {}},
        ]),
        10 => json!({"metadata": {"labels": {"x": null}, "finalizers": null}, "spec": {"places": null}}),
        _ => json!({"metadata": {"generateName": "made-", "ownerReferences": [
            {"apiVersion": "v1", "kind": "ConfigMap", "name": "a", "uid": "u", "controller": true, "blockOwnerDeletion": true},
        ]}}),
    }
}

/// Changes something somewhere in the value.
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
