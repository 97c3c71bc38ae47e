//! Times and bytes of built-in kinds.
use serde_json::json;

use super::{Inside, told};

#[tokio::test]
async fn times_are_stored_as_kube_apiserver_prints_them() {
    let inside = Inside::new().await;
    let lease = |name: &str, time: &str| {
        let spec = json!({"holderIdentity": "me", "leaseDurationSeconds": 15, "acquireTime": time, "renewTime": time});
        inside.create("leases", "default", json!({"metadata": {"name": name}, "spec": spec}))
    };
    let kept = lease("a", "2026-01-02T04:04:07.500000+01:00").await.expect("a lease");
    assert_eq!(kept["spec"]["renewTime"], "2026-01-02T03:04:07.500000Z");
    assert_eq!(kept["spec"]["acquireTime"], "2026-01-02T03:04:07.500000Z");
    for (time, why) in [
        ("2026-01-02T03:04:07Z", r#"cannot parse \"Z\" as \".000000\""#),
        ("2026-01-02T03:04:07.123456789Z", r#"cannot parse \"789Z\" as \"Z07:00\""#),
    ] {
        let refused = told(lease("b", time).await);
        assert!(refused[0].starts_with("BadRequest") && refused[0].contains(why), "{refused:?}");
    }
    let event = json!({
        "metadata": {"name": "e"}, "involvedObject": {"kind": "Pod", "name": "p", "namespace": "default"}, "reason": "Started",
        "type": "Normal", "firstTimestamp": "2026-01-02T03:04:05.9-02:30", "lastTimestamp": "2026-01-02T03:04:05,5Z",
        "eventTime": null,
    });
    let kept = inside.create("events", "default", event).await.expect("an event");
    assert_eq!(kept["firstTimestamp"], "2026-01-02T05:34:05Z");
    assert_eq!(kept["lastTimestamp"], "2026-01-02T03:04:05Z");
    let secret = json!({"metadata": {"name": "s"}, "data": {"a": "aG\nk=", "b": "", "c": "aGkh"}});
    let kept = inside.create("secrets", "default", secret).await.expect("a secret");
    assert_eq!(kept["data"], json!({"a": "aGk=", "b": "", "c": "aGkh"}));
}
