//! Objects of a stranger's definition that multiply work: each is small, and its schema makes much of it.

use serde_json::{Value, json};

use super::{Bounds, Observation, Setup, Target, size};

/// A definition, and objects of it.
pub(super) struct Attack {
    pub(super) name: &'static str,
    /// The schema of `spec`.
    pub(super) spec: Value,
    /// The bodies' `spec`, and the expected status.
    pub(super) objects: Vec<(Value, u16)>,
    /// How often each is sent, all at the same time.
    pub(super) times: usize,
}

/// Sends the objects of an attack at the same time, and checks the answers.
pub(super) async fn run(attack: Attack) {
    let target = Target::start(Setup { gives_back: true, ..Setup::default() });
    let schema = json!({"type": "object", "properties": {"spec": attack.spec}});
    let path = target.define(json!({"schema": {"openAPIV3Schema": schema}})).await;
    let observation = Observation::begin(attack.name, &target).await;
    let mut sent = Vec::new();
    for (spec, status) in attack.objects {
        let body = json!({
            "apiVersion": "things.example.com/v1", "kind": "Thing", "metadata": {"name": "a"}, "spec": spec,
        });
        for _ in 0..attack.times {
            let (mut client, body) = (target.client(), body.clone());
            sent.push(tokio::spawn(async move {
                let answer = client.json("POST", path, &body).await.unwrap();
                // Large writes wait for their turn for ten seconds, which pass in unoptimized code on a busy machine.
                let may_wait = answer.status == 429 && cfg!(debug_assertions);
                assert!(answer.status == status || may_wait, "{:.1000}", String::from_utf8_lossy(&answer.body));
                assert!(answer.body.len() < 1 << 20, "an answer of {} bytes", answer.body.len());
                answer.status == status
            }));
        }
    }
    let mut expected = 0;
    for answer in sent {
        expected += usize::from(answer.await.unwrap());
    }
    assert!(expected > 0, "{}: no write came to its turn", attack.name);
    observation.end(&target, Bounds::STRANGER).await;
}

fn many(count: usize, item: &Value) -> Value {
    vec![item.clone(); count].into()
}

fn object(properties: &Value) -> Value {
    json!({"type": "object", "properties": properties})
}

fn list(items: &Value) -> Value {
    json!({"type": "array", "items": items})
}

/// Texts of some bytes together, in a list.
fn texts(bytes: usize) -> Value {
    (0..bytes / 25).map(|number| Value::from(format!("text number {number:08}"))).collect()
}

/// 20 KB of defaults for each of 27,000 items in a body of 80 KB; the same in a body of 1.2 MB, in entries of maps, in a
/// default, and below each other.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn defaults_multiply_within_a_limit() {
    let text = json!({"type": "string", "default": "x".repeat(20_000)});
    let small = list(&object(&json!({"d": {"type": "string", "default": "x".repeat(1_000)}})));
    let spec = object(&json!({
        "text": list(&object(&json!({"d": text}))),
        "list": list(&object(&json!({"d": {"type": "array", "items": {"type": "string"}, "default": texts(20_000)}}))),
        "map": {"type": "object", "additionalProperties": object(&json!({"d": text}))},
        "below": list(&object(&json!({"e": {"type": "array", "items": small["items"], "default": many(100, &json!({}))}}))),
        "null": list(&json!({"type": "string", "default": "x".repeat(20_000)})),
    }));
    let entries: Value = Value::Object((0..8_000).map(|number| (format!("k{number}"), json!({}))).collect());
    let objects = vec![
        (json!({"text": many(27_000, &json!({}))}), 413),
        (json!({"text": many(400_000, &json!({}))}), 413),
        (json!({"list": many(20_000, &json!({}))}), 413),
        (json!({"map": entries}), 413),
        (json!({"below": many(20_000, &json!({}))}), 413),
        (json!({"null": many(15_000, &json!(null))}), 413),
        (json!({"text": many(10, &json!({}))}), 201),
    ];
    run(Attack { name: "defaults", spec, objects, times: 1 }).await;
    let spec = object(&json!({"text": list(&object(&json!({"d": text})))}));
    let objects = vec![(json!({"text": many(20_000, &json!({}))}), 413)];
    run(Attack { name: "defaults, 16 at a time", spec, objects, times: size(64, 16) }).await;
}

/// 60 KB and more of values that an enumeration of 1,000 values does not have, sixteen times at once; 20,000 allowed values, the
/// most that a definition may have.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn errors_do_not_repeat_what_they_are_about() {
    let values = |count: usize| (0..count).map(|number| Value::from(format!("allowed-{number:07}"))).collect::<Value>();
    for (name, count, given) in [
        ("an enumeration of 1,000", 1_000, 60_000),
        ("an enumeration of 20,000", 20_000, 60_000),
        ("2.4 MB of an enumeration", 20_000, 2_400_000),
    ] {
        let spec = object(&json!({"a": list(&json!({"type": "string", "enum": values(count)}))}));
        let times = if given > 1_000_000 { 2 } else { 16 };
        run(Attack { name, spec, objects: vec![(json!({"a": texts(given)}), 422)], times }).await;
    }
}

/// Rules whose number multiplies with that of the values, and errors that are much longer than what causes them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rules_multiply_within_a_limit() {
    let number = |minimum: usize| json!({"minimum": minimum});
    let branches: Vec<Value> = (1..2_000).map(number).collect();
    let names: Vec<String> = (0..5_000).map(|number| format!("field{number}")).collect();
    let fields: Value = names.iter().map(|name| (name.clone(), json!({"type": "string"}))).collect();
    let mut required = object(&fields);
    required["required"] = json!(names);
    let deep = (0..40).fold(json!({"type": "integer"}), |inner, _| object(&json!({"x".repeat(1_000): inner})));
    let leaf = (0..40).fold(json!("no number"), |inner, _| json!({"x".repeat(1_000): inner}));
    let spec = object(&json!({
        "any": list(&json!({"type": "integer", "anyOf": branches})),
        "all": list(&json!({"type": "integer", "allOf": branches})),
        "one": list(&json!({"type": "integer", "oneOf": branches})),
        "required": list(&required),
        "fields": list(&object(&fields)),
        "deep": list(&deep),
        "length": {"type": "string", "anyOf": (1..2_000).map(|_| json!({"maxLength": 1})).collect::<Value>()},
    }));
    let objects = vec![
        (json!({"any": many(30_000, &json!(0))}), 413),
        (json!({"all": many(30_000, &json!(0))}), 422),
        (json!({"one": many(30_000, &json!(9))}), 413),
        (json!({"required": many(20_000, &json!({}))}), 413),
        (json!({"fields": many(20_000, &json!({}))}), 413),
        (json!({"deep": many(70, &leaf)}), 422),
        (json!({"length": "x".repeat(3_000_000)}), 413),
    ];
    run(Attack { name: "rules", spec, objects, times: 1 }).await;
}

/// Values that each branch of a junctor hashes as a whole, and lists whose items have many keys.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hashes_and_keys_multiply_within_a_limit() {
    let values: Value = (0..17).map(|number| json!({"n": number})).collect();
    let branch = json!({"not": {"enum": values}});
    let key = json!({"type": "integer", "default": 1});
    let keys: Vec<String> = (0..16).map(|number| format!("k{number}")).collect();
    let item = object(&keys.iter().map(|name| (name.clone(), key.clone())).collect());
    let spec = object(&json!({
        "any": {"type": "object", "x-kubernetes-preserve-unknown-fields": true, "allOf": vec![branch; 1_000]},
        "keys": {
            "type": "array", "items": item, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": keys,
        },
    }));
    let items: Value = (0..30_000).map(|number| json!({"k0": number})).collect();
    let objects = vec![(json!({"any": {"l": vec![1; 25_000]}}), 413), (json!({"keys": items}), 413)];
    run(Attack { name: "hashes and keys", spec, objects, times: 2 }).await;
}

/// Patches of a few KB whose work grows with the square of the object.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn patches_multiply_within_a_limit() {
    let target = Target::start(Setup { gives_back: true, ..Setup::default() });
    let mut client = target.client();
    let path = "/api/v1/namespaces/default/configmaps";
    let finalizers: Vec<String> = (0..60_000).map(|number| format!("example.com/f{number}")).collect();
    let body = json!({"metadata": {"name": "a", "finalizers": finalizers}});
    assert_eq!(client.json("POST", path, &body).await.unwrap().status, 201);
    assert_eq!(client.json("DELETE", &format!("{path}/a"), &Value::Null).await.unwrap().status, 200);
    let observation = Observation::begin("patches", &target).await;
    let gone = json!({"metadata": {"$deleteFromPrimitiveList/finalizers": finalizers[..50_000]}});
    let path = format!("{path}/a");
    let answer = client.typed("PATCH", &path, "application/strategic-merge-patch+json", &gone).await.unwrap();
    assert_eq!(answer.status, 200, "{:?}", answer.body);
    let insert = json!({"op": "add", "path": "/metadata/finalizers/0", "value": "example.com/f0"});
    let remove = json!({"op": "remove", "path": "/metadata/finalizers/0"});
    let mut patch = vec![insert; 5_000];
    patch.extend(vec![remove; 5_000]);
    let answer = client.typed("PATCH", &path, "application/json-patch+json", &json!(patch)).await.unwrap();
    assert!([200, 413].contains(&answer.status), "{:.1000}", String::from_utf8_lossy(&answer.body));
    observation.end(&target, Bounds::STRANGER).await;
}
