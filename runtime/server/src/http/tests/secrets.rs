//! Errors show no values of a stored object: a user who may change it may not be allowed to read it, and messages are
//! logged.
use base64::{Engine, engine::general_purpose::STANDARD};

use super::*;

const SECRETS: &str = "/api/v1/namespaces/default/secrets";
const HIDDEN: &str = "the secret password";

/// Invalid merge patches of a Secret.
fn merges() -> Vec<Value> {
    vec![
        json!({"nope": 1}),
        json!({"data": {"k2": 5}}),
        json!({"data": {"k2": "not base64!"}}),
        json!({"data": [1]}),
        json!({"type": "other"}),
        json!({"immutable": "yes"}),
        json!({"metadata": {"uid": "x"}}),
        json!({"metadata": {"name": "b"}}),
        json!({"metadata": {"resourceVersion": "1"}}),
        json!({"metadata": {"labels": {"a b": "c"}}}),
        json!({"metadata": {"finalizers": [1]}}),
        json!({"metadata": {"ownerReferences": [{"x": 1}]}}),
        json!({"data": {"$patch": "bogus"}, "nope": 1}),
        json!([]),
    ]
}

/// Invalid JSON patches of a Secret; some copy its data to fields whose errors show values.
fn operations() -> Vec<Value> {
    vec![
        json!([{"op": "add", "path": "/nope", "value": 1}]),
        json!([{"op": "test", "path": "/data/k", "value": "x"}]),
        json!([{"op": "remove", "path": "/data/other"}]),
        json!([{"op": "replace", "path": "/data/k", "value": 5}]),
        json!([{"op": "add", "path": "/data/a b", "value": ""}]),
        json!([{"op": "copy", "from": "/data/k", "path": "/type"}]),
        json!([{"op": "copy", "from": "/data/k", "path": "/kind"}]),
        json!([{"op": "copy", "from": "/data/k", "path": "/immutable"}]),
        json!([{"op": "copy", "from": "/data/k", "path": "/metadata/name"}]),
        json!([{"op": "copy", "from": "/data/k", "path": "/metadata/uid"}]),
        json!([{"op": "copy", "from": "/data/k", "path": "/metadata/resourceVersion"}]),
        json!([{"op": "copy", "from": "/data/k", "path": "/metadata/creationTimestamp"}]),
        json!([{"op": "copy", "from": "/data/k", "path": "/metadata/finalizers/0"}]),
        json!([{"op": "copy", "from": "/metadata/annotations", "path": "/metadata/labels"}]),
        json!([{"op": "move", "from": "/metadata/annotations/note", "path": "/data/note"}]),
        json!([{"op": "copy", "from": "/data", "path": "/nope"}]),
    ]
}

#[tokio::test]
async fn a_refused_write_of_a_secret_shows_no_values() {
    let rig = Rig::with(crate::builtin::kinds()).await;
    let hidden = STANDARD.encode(HIDDEN);
    let secret = json!({"metadata": {"name": "s", "finalizers": ["example.com/hold"],
        "annotations": {"note": HIDDEN}}, "data": {"k": hidden}});
    assert_eq!(rig.post(SECRETS, &secret).await.0, 201);
    let path = format!("{SECRETS}/s");
    let (merges, operations) = (merges(), operations());
    let with =
        |kind: &'static str, patches: &[Value]| patches.iter().map(|patch| (kind, patch.clone())).collect::<Vec<_>>();
    let all = [
        with("application/merge-patch+json", &merges),
        with("application/strategic-merge-patch+json", &merges),
        with("application/apply-patch+yaml", &merges),
        with("application/json-patch+json", &operations),
        with("application/json-patch+json", &merges),
    ];
    let mut refused = 0;
    for (kind, patch) in all.concat() {
        for query in ["?fieldManager=m&dryRun=All", "?fieldManager=m&dryRun=All&fieldValidation=Strict"] {
            let headers = [("content-type", kind)];
            let answer = rig.answer("PATCH", &format!("{path}{query}"), &headers, &patch.to_string()).await;
            let (code, warnings) = (answer.status().as_u16(), format!("{:?}", answer.headers()));
            let body = text(answer).await;
            if code != 200 {
                refused += 1;
                for shown in [HIDDEN, &hidden] {
                    assert!(!body.contains(shown) && !warnings.contains(shown), "{kind} {patch}: {body}");
                }
            }
        }
    }
    assert!(refused > 90, "{refused} patches were refused");
    for body in [json!({"metadata": {"name": "s"}, "type": "other"}), json!({"metadata": {"name": "s"}, "data": 5})] {
        let (code, status) = rig.json("PUT", &path, &[("content-type", "application/json")], &body.to_string()).await;
        assert!(code >= 400 && !status.to_string().contains(&hidden), "{status}");
    }
}
