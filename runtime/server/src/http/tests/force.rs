//! Unreadable objects over HTTP: their errors, and who may delete them.
use super::*;
use crate::{
    auth::{Attributes, Decision, Soon},
    storage::{Expect, Op},
};

/// Allows everything to everyone, except forced deletion, which only masters may do.
struct Careful;

impl Authorize for Careful {
    fn authorize<'a>(&'a self, attributes: &'a Attributes<'a>) -> Soon<'a, Decision> {
        let force = attributes.verb == "unsafe-delete-ignore-read-errors";
        assert!(!force || attributes.name == "broken" && attributes.namespace == "default", "{attributes:?}");
        let allowed = !force || attributes.user.groups.iter().any(|group| group == "system:masters");
        Soon::now(if allowed { Decision::ALLOW } else { Decision::NoOpinion("not by force".to_owned()) })
    }
}

#[tokio::test]
async fn an_unreadable_object_is_reported_and_deleted_with_permission() {
    let kinds = vec![Namespace::kind(), ConfigMap::kind()];
    let rig = Rig::authorized(kinds, Arc::new(Careful)).await;
    rig.config_map("broken").await;
    let api = &rig.0.backend.api;
    let key: Arc<str> = "/registry/configmaps/default/broken".into();
    let value = Some("nonsense".into());
    let revisions = api
        .store
        .commit(vec![Op { key: key.clone(), value, expect: Expect::Any, lifetime: None }].into())
        .await
        .unwrap();
    api.cache.reached(revisions[0]).await;

    let path = format!("{CONFIG_MAPS}/broken");
    for (method, path, name) in [("GET", &*path, "broken"), ("GET", CONFIG_MAPS, "list"), ("DELETE", &path, "broken")] {
        let (code, status) = rig.json(method, path, &[], "").await;
        assert_eq!((code, &status["reason"]), (500, &json!("StoreReadError")), "{method} {path}");
        assert_eq!((&status["details"]["name"], &status["details"]["kind"]), (&json!(name), &json!("configmaps")));
        let cause = &status["details"]["causes"][0];
        assert_eq!((&cause["reason"], &cause["field"]), (&json!("UnexpectedServerResponse"), &json!(*key)));
        let message = status["message"].as_str().unwrap();
        assert!(message.starts_with("failed to read one or more configmaps from the storage: "), "{message}");
    }

    let force = format!("{path}?ignoreStoreReadErrorWithClusterBreakingPotential=true");
    let (code, status) = rig.json("DELETE", &force, &[("authorization", "Bearer alicetoken")], "").await;
    assert_eq!(code, 403, "{status}");
    assert_eq!(
        status["message"],
        "configmaps \"broken\" is forbidden: not permitted to do \"unsafe-delete-ignore-read-errors\", reason: not by force"
    );
    let (code, _) = rig.json("DELETE", &format!("{force}&dryRun=All"), &[], "").await;
    assert_eq!(code, 422);
    let (code, _) = rig.json("DELETE", &force.replace("/broken", ""), &[], "").await;
    assert_eq!(code, 422, "not a whole collection");
    let (code, status) = rig.json("DELETE", &force, &[], "").await;
    assert_eq!(code, 200);
    let details = json!({"name": "broken", "kind": "ConfigMap"});
    let gone = json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details, "code": 200});
    assert_eq!(status, gone);
    assert_eq!(rig.get(&path).await.0, 404);
}
