//! Tests of the built-in kinds through the verbs, over a memory store.
mod columns;
mod generations;
#[cfg(feature = "messages")]
mod message;
mod proto;
mod protobuf;
mod times;

use serde_json::{Value, json};

use super::*;
use crate::{
    cache::{Cache, Limits},
    kind::by_resource,
    meta::options::{DeleteOptions, ListOptions, PatchOptions},
    registry::Registry,
    schema::Document,
    storage::{Memory, Store},
    verbs::{Answer, DeleteResult, Patch, WriteResult},
};

/// The parts of a server with the built-in kinds and the namespaces that every server has.
pub(super) struct Inside {
    pub api: Arc<Verbs>,
}

impl Inside {
    pub(super) async fn new() -> Self {
        Self::over(Arc::new(Memory::new())).await
    }

    /// A server over an existing store.
    pub(super) async fn over(store: Arc<dyn Store>) -> Self {
        let cache = Cache::new(store.clone(), Limits::default());
        let registry = Arc::new(Registry::new(cache.clone()));
        for versions in by_resource(kinds()) {
            registry.register(versions).expect("a built-in kind");
        }
        let api = Verbs::new(registry, cache, store);
        bootstrap(&api, &[]).await.expect("the first namespaces");
        Self { api }
    }

    pub(super) fn request(&self, plural: &str, namespace: &str, name: &str) -> Request {
        let group = if plural == "leases" { "coordination.k8s.io" } else { "" };
        let resource = self.api.registry.find(group, "v1", plural).expect("a built-in kind");
        let request = Request::for_all(&Arc::new(User::system()), &resource);
        Request { namespace: namespace.into(), name: name.into(), ..request }
    }

    pub(super) async fn create(&self, plural: &str, namespace: &str, body: Value) -> Result<Document, Error> {
        let request = self.request(plural, namespace, "");
        self.api.create(&request, body, &WriteOptions::default()).await.map(document)
    }

    pub(super) async fn namespace(&self, name: &str) {
        self.create("namespaces", "", json!({"metadata": {"name": name}})).await.expect("a new namespace");
    }

    pub(super) async fn merge(&self, request: &Request, patch: Value) -> Result<Document, Error> {
        let options = PatchOptions::default();
        self.api.patch(request, Patch::Merge(patch.to_string().into()), &options).await.map(document)
    }

    pub(super) async fn delete(&self, plural: &str, namespace: &str, name: &str) -> DeleteResult {
        let request = self.request(plural, namespace, name);
        self.api.delete(&request, &DeleteOptions::default()).await.expect("a deletion")
    }

    /// The current object, without waiting.
    pub(super) fn find(&self, plural: &str, namespace: &str, name: &str) -> Option<Document> {
        let request = self.request(plural, namespace, name);
        let object = request.resource.objects.snapshot().get(&request.key())?;
        Some(serde_json::from_slice(object.json_bytes()).expect("JSON"))
    }
}

pub(super) fn document(written: WriteResult) -> Document {
    match written.answer {
        Answer::Object(object) => serde_json::from_slice(object.json_bytes()).expect("JSON"),
        Answer::Document(document) => document,
    }
}

/// The errors, one per line.
pub(super) fn told<T: std::fmt::Debug>(result: Result<T, Error>) -> Vec<String> {
    match result.expect_err("a refusal") {
        Error::Invalid(_, _, errors) => errors.iter().map(ToString::to_string).collect(),
        other => vec![format!("{other:?}")],
    }
}

#[tokio::test]
async fn every_server_has_its_namespaces_once() {
    let inside = Inside::new().await;
    let before = inside.api.cache.revision();
    bootstrap(&inside.api, &[]).await.expect("again");
    assert_eq!(inside.api.cache.revision(), before, "existing namespaces are not changed");
    let mut found = inside.find("namespaces", "", "kube-system").expect("a namespace");
    for member in ["uid", "resourceVersion", "creationTimestamp", "managedFields"] {
        assert!(found["metadata"].as_object_mut().expect("metadata").remove(member).is_some(), "{member}");
    }
    assert_eq!(
        found,
        json!({
            "kind": "Namespace", "apiVersion": "v1",
            "metadata": {"name": "kube-system", "labels": {"kubernetes.io/metadata.name": "kube-system"}},
            "spec": {"finalizers": ["kubernetes"]}, "status": {"phase": "Active"}
        })
    );
}

#[tokio::test]
async fn a_namespace_keeps_its_label_its_finalizers_and_its_phase() {
    let inside = Inside::new().await;
    let made =
        inside.create("namespaces", "", json!({"metadata": {"generateName": "gen-"}})).await.expect("a namespace");
    assert_eq!(made["metadata"]["labels"]["kubernetes.io/metadata.name"], made["metadata"]["name"], "{made}");
    let request = inside.request("namespaces", "", "default");
    let patch = json!({"metadata": {"labels": {"kubernetes.io/metadata.name": "x", "team": "a"}}, "spec": {"finalizers": []}, "status": {"phase": "Terminating"}});
    let patched = inside.merge(&request, patch).await.expect("a patch");
    assert_eq!(patched["metadata"]["labels"], json!({"kubernetes.io/metadata.name": "default", "team": "a"}));
    assert_eq!(
        (&patched["spec"], &patched["status"]),
        (&json!({"finalizers": ["kubernetes"]}), &json!({"phase": "Active"}))
    );
    let status = Request { subresource: "status".into(), ..request.clone() };
    let wrong = told(inside.merge(&status, json!({"status": {"phase": "Terminating"}})).await);
    assert_eq!(
        wrong,
        ["status.phase: Invalid value: \"Terminating\": may only be 'Active' if `deletionTimestamp` is empty"]
    );
    let unqualified = told(
        inside.create("namespaces", "", json!({"metadata": {"name": "x"}, "spec": {"finalizers": ["mine"]}})).await,
    );
    assert_eq!(
        unqualified,
        [
            "spec.finalizers: Invalid value: \"mine\": name is neither a standard finalizer name nor is it fully qualified"
        ]
    );
    let dots = told(inside.create("namespaces", "", json!({"metadata": {"name": "with.dots"}})).await);
    assert_eq!(dots, ["metadata.name: Invalid value: \"with.dots\": must not contain dots"]);
}

#[tokio::test]
async fn a_namespace_terminates_and_goes_with_its_last_finalizer() {
    let inside = Inside::new().await;
    inside
        .create("namespaces", "", json!({"metadata": {"name": "a"}, "spec": {"finalizers": ["example.com/x"]}}))
        .await
        .expect("a namespace");
    assert!(matches!(inside.delete("namespaces", "", "a").await, DeleteResult::Marked(_)));
    let marked = inside.find("namespaces", "", "a").expect("still there");
    assert_eq!(marked["status"]["phase"], "Terminating");
    let refused = inside.create("configmaps", "a", json!({"metadata": {"name": "x"}})).await;
    assert!(matches!(refused, Err(Error::Forbidden { .. })), "{refused:?}");
    let finalize = Request { subresource: "finalize".into(), ..inside.request("namespaces", "", "a") };
    inside.merge(&finalize, json!({"spec": {"finalizers": ["kubernetes"]}})).await.expect("one finalizer less");
    assert!(inside.find("namespaces", "", "a").is_some());
    inside.merge(&finalize, json!({"spec": {"finalizers": []}})).await.expect("no finalizer");
    assert!(inside.find("namespaces", "", "a").is_none());
}

#[tokio::test]
async fn config_maps_check_their_keys_and_may_be_immutable() {
    let inside = Inside::new().await;
    let create = |body: Value| inside.create("configmaps", "default", body);
    let wrong = told(create(json!({"metadata": {"name": "a"}, "data": {"bad key": "", "..": "", "both": "x"}, "binaryData": {"both": "eA==", "..x": "", "ok": "eA=="}})).await);
    let key = "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";
    assert_eq!(
        wrong,
        [
            "data[..]: Invalid value: \"..\": must not be '..'".to_owned(),
            format!("data[bad key]: Invalid value: \"bad key\": {key}"),
            "data[both]: Invalid value: \"both\": duplicate of key present in binaryData".to_owned(),
            "binaryData[..x]: Invalid value: \"..x\": must not start with '..'".to_owned(),
        ]
    );
    let large = told(create(json!({"metadata": {"name": "a"}, "data": {"a": "x".repeat(1 << 20), "b": "x"}})).await);
    assert_eq!(large, ["[]: Too long: may not be more than 1048576 bytes"]);
    create(json!({"metadata": {"name": "a"}, "data": {"a": "x"}, "immutable": true})).await.expect("an immutable one");
    let request = inside.request("configmaps", "default", "a");
    let changed = told(
        inside.merge(&request, json!({"data": {"a": "y"}, "binaryData": {"b": "eA=="}, "immutable": false})).await,
    );
    assert_eq!(
        changed,
        ["immutable", "data", "binaryData"]
            .map(|field| format!("{field}: Forbidden: field is immutable when `immutable` is set"))
    );
    inside.merge(&request, json!({"metadata": {"labels": {"a": "b"}}})).await.expect("labels may change");
}

#[tokio::test]
async fn secrets_convert_text_and_check_what_their_type_requires() {
    let inside = Inside::new().await;
    let create = |body: Value| inside.create("secrets", "default", body);
    let made =
        create(json!({"metadata": {"name": "a"}, "stringData": {"k": "text", "l": "new"}, "data": {"l": "b2xk"}}))
            .await
            .expect("a secret");
    assert_eq!(made["data"], json!({"k": "dGV4dA==", "l": "bmV3"}));
    assert_eq!((made.get("stringData"), &made["type"]), (None, &json!("Opaque")));
    let request = inside.request("secrets", "default", "a");
    let patched = inside.merge(&request, json!({"stringData": {"m": "more"}})).await.expect("a patch");
    assert_eq!((patched["data"]["m"].as_str(), patched.get("stringData")), (Some("bW9yZQ=="), None));
    assert_eq!(
        told(inside.merge(&request, json!({"type": "x/y"})).await),
        ["type: Invalid value: \"x/y\": field is immutable"]
    );
    for (kind, data, wrong) in [
        ("kubernetes.io/tls", json!({}), vec!["data[tls.crt]: Required value", "data[tls.key]: Required value"]),
        (
            "kubernetes.io/basic-auth",
            json!({}),
            vec!["data[username]: Required value", "data[password]: Required value"],
        ),
        ("kubernetes.io/ssh-auth", json!({"x": "eA=="}), vec!["data[ssh-privatekey]: Required value"]),
        (
            "kubernetes.io/service-account-token",
            json!({}),
            vec!["metadata.annotations[kubernetes.io/service-account.name]: Required value"],
        ),
    ] {
        assert_eq!(told(create(json!({"metadata": {"name": "b"}, "type": kind, "data": data})).await), wrong, "{kind}");
    }
    let broken = told(create(json!({"metadata": {"name": "b"}, "type": "kubernetes.io/dockerconfigjson", "data": {".dockerconfigjson": "e3s="}})).await);
    assert!(
        broken[0].starts_with("data[.dockerconfigjson]: Invalid value: \"<secret contents redacted>\""),
        "{broken:?}"
    );
    create(json!({"metadata": {"name": "b"}, "type": "kubernetes.io/basic-auth", "data": {"password": "eA=="}}))
        .await
        .expect("one of the two");
    assert!(create(json!({"metadata": {"name": "c"}, "data": {"k": "no base64!"}})).await.is_err());
}

#[tokio::test]
async fn leases_and_events_can_be_made_by_an_update() {
    let inside = Inside::new().await;
    let put = |plural: &'static str, name: &'static str, mut body: Value| {
        body["metadata"] = json!({ "name": name });
        let request = inside.request(plural, "default", name);
        let api = inside.api.clone();
        async move { api.update(&request, body, &WriteOptions::default()).await }
    };
    let lease = put("leases", "l", json!({"spec": {"holderIdentity": "me", "leaseDurationSeconds": 15, "renewTime": "2026-01-02T03:04:05.000006Z"}})).await.expect("a lease");
    assert!(lease.created);
    let wrong = told(
        put(
            "leases",
            "m",
            json!({"spec": {"leaseDurationSeconds": 0, "leaseTransitions": -1, "preferredHolder": "x"}}),
        )
        .await,
    );
    assert_eq!(
        wrong,
        [
            "spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0",
            "spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0",
            "spec.preferredHolder: Forbidden: may only be specified if `strategy` is defined",
        ]
    );
    let event = json!({"involvedObject": {"kind": "Pod", "name": "p", "namespace": "default"}, "reason": "Started", "message": "m", "type": "Normal"});
    assert!(put("events", "e", event).await.expect("an event").created);
    let elsewhere = json!({"involvedObject": {"namespace": "kube-system"}});
    assert_eq!(
        told(put("events", "f", elsewhere).await),
        ["involvedObject.namespace: Invalid value: \"kube-system\": does not match event.namespace"]
    );
    let full = json!({"involvedObject": {}, "eventTime": "2026-01-02T03:04:05.000000Z", "reportingComponent": "Bad/Name!", "message": "x".repeat(1025)});
    let wrong = told(put("events", "f", full).await);
    assert_eq!(wrong.len(), 6, "{wrong:#?}");
    assert!(put("configmaps", "c", json!({})).await.is_err(), "only some kinds");
}

#[tokio::test]
async fn events_are_selected_by_their_object() {
    let inside = Inside::new().await;
    for (name, object, reason) in [("a", "p", "Started"), ("b", "q", "Started"), ("c", "p", "Failed")] {
        let event = json!({"metadata": {"name": name}, "involvedObject": {"kind": "Pod", "name": object, "namespace": "default", "uid": "u"}, "reason": reason, "type": "Normal"});
        inside.create("events", "default", event).await.expect("an event");
    }
    for (selector, expected) in [
        ("involvedObject.name=p", "ac"),
        ("involvedObject.kind=Pod,involvedObject.uid=u,reason=Started", "ab"),
        ("involvedObject.namespace=default,type!=Normal", ""),
        ("type=Normal,involvedObject.name!=p", "b"),
        ("reportingComponent=", "abc"),
    ] {
        let query = [("fieldSelector", selector)].into_iter().collect();
        let options = ListOptions::parse(&query, false).expect("options");
        let list = inside.api.list(&inside.request("events", "", ""), &options).await.expect("a list");
        let names: String = list.items.iter().map(|object| object.name()).collect();
        assert_eq!(names, expected, "{selector}");
    }
}

#[test]
fn protobuf_numbers_are_those_of_kube_apiserver() {
    let numbers = |kind: &Kind| -> Vec<String> {
        let fields = kind.version.schema.properties.iter();
        fields.map(|(name, schema)| format!("{name} {}", schema.protobuf.expect("a number"))).collect()
    };
    assert_eq!(numbers(&ConfigMap::kind()), ["binaryData 3", "data 2", "immutable 4"]);
    assert_eq!(numbers(&Secret::kind()), ["data 2", "immutable 5", "stringData 4", "type 3"]);
    assert_eq!(numbers(&Namespace::kind()), ["spec 2", "status 3"]);
    assert_eq!(numbers(&Lease::kind()), ["spec 2"]);
    assert_eq!(numbers(&ServiceAccount::kind()), ["automountServiceAccountToken 4", "imagePullSecrets 3", "secrets 2"]);
    let event = "action 12,count 8,eventTime 10,firstTimestamp 6,involvedObject 2,lastTimestamp 7,message 4,reason 3,\
related 13,reportingComponent 14,reportingInstance 15,series 11,source 5,type 9";
    assert_eq!(numbers(&Event::kind()).join(","), event);
}

#[test]
fn lists_are_merged_as_clients_expect() {
    let strategy = |kind: crate::kind::Kind, path: [&str; 2]| {
        let mut schema: &crate::schema::Schema = &kind.version.schema;
        for step in path.into_iter().filter(|step| !step.is_empty()) {
            schema = &schema.properties[step];
        }
        (schema.patch.merge, schema.patch.merge_key.clone())
    };
    assert_eq!(strategy(ServiceAccount::kind(), ["", "secrets"]), (true, Some("name".to_owned())));
    assert_eq!(strategy(ServiceAccount::kind(), ["", "imagePullSecrets"]), (false, None));
    assert_eq!(strategy(Namespace::kind(), ["status", "conditions"]), (true, Some("type".to_owned())));
    assert_eq!(strategy(Namespace::kind(), ["spec", "finalizers"]), (false, None));
}

#[tokio::test]
async fn a_service_account_keeps_the_names_of_its_secrets() {
    let inside = Inside::new().await;
    let given = json!({"metadata": {"name": "sa"}, "secrets": [{"name": "one", "namespace": "n", "fieldPath": "p"}]});
    let created = inside.create("serviceaccounts", "default", given).await.expect("a new account");
    assert_eq!(created["secrets"], json!([{"name": "one"}]));
    let request = inside.request("serviceaccounts", "default", "sa");
    let patch = json!({"secrets": [{"name": "two", "uid": "u"}]}).to_string();
    let patched = inside.api.patch(&request, Patch::Strategic(patch.into()), &PatchOptions::default()).await;
    assert_eq!(patched.map(document).expect("a patch")["secrets"], json!([{"name": "two"}, {"name": "one"}]));
}
