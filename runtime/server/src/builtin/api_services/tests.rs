//! Tests of the kind through the verbs, with the messages that kube-aggregator gives.
use std::sync::Arc;

use serde_json::{Value, json};

use super::{APIService, APIServiceCondition, APIServiceStatus};
use crate::{
    Resource as _,
    auth::User,
    cache::{Cache, Limits},
    meta::{Status, options::WriteOptions},
    registry::Registry,
    schema::Document,
    storage::{Memory, Store},
    verbs::{Answer, Error, Request, Verbs},
};

async fn create(object: Value) -> Result<Document, String> {
    let store: Arc<dyn Store> = Arc::new(Memory::new());
    let cache = Cache::new(store.clone(), Limits::default());
    let registry = Arc::new(Registry::new(cache.clone()));
    let resource = registry.register([APIService::kind()]).expect("a kind");
    let api = Verbs::new(registry, cache, store);
    let request = Request::for_all(&Arc::new(User::system()), &resource);
    let created = api.create(&request, object, &WriteOptions::default()).await;
    match created.map(|written| written.answer) {
        Ok(Answer::Object(object)) => Ok(serde_json::from_slice(object.json_bytes()).expect("JSON")),
        Ok(_) => panic!("an object"),
        Err(error @ Error::Invalid(..)) => Err(Status::from(error).message),
        Err(error) => panic!("{error:?}"),
    }
}

#[tokio::test]
async fn defaults_and_the_condition_of_a_local_service() {
    let remote = json!({
        "metadata": {"name": "v1.example.com"}, "status": {"conditions": [{"type": "Available", "status": "True"}]},
        "spec": {"group": "example.com", "version": "v1", "groupPriorityMinimum": 1, "versionPriority": 1,
                 "service": {"namespace": "a", "name": "b"}},
    });
    let created = create(remote).await.unwrap();
    assert_eq!(created["spec"]["service"]["port"], 443);
    assert_eq!(created["status"]["conditions"], Value::Null, "what a client says of the state does not count");
    let local = json!({
        "metadata": {"name": "v1.example.com"},
        "spec": {"group": "example.com", "version": "v1", "groupPriorityMinimum": 20_000, "versionPriority": 1_000},
    });
    let condition = &create(local).await.unwrap()["status"]["conditions"][0];
    let seen = ["type", "status", "reason", "message"].map(|field| condition[field].as_str().unwrap().to_owned());
    assert_eq!(seen, ["Available", "True", "Local", "Local APIServices are always available"]);
}

#[tokio::test]
async fn wrong_services_are_refused_in_the_words_of_kube_aggregator() {
    let valid = json!({"group": "example.com", "version": "v1", "groupPriorityMinimum": 1, "versionPriority": 1});
    for (name, change, messages) in [
        (
            "v2.example.com",
            json!({}),
            vec![
                "metadata.name: Invalid value: \"v2.example.com\": must be `spec.version+\".\"+spec.group`: \"v1.example.com\"",
            ],
        ),
        (
            "v2.",
            json!({"group": "", "version": "v2"}),
            vec!["spec.group: Required value: only v1 may have an empty group and it better be legacy kube"],
        ),
        (
            "v1.example.com",
            json!({"groupPriorityMinimum": 0, "versionPriority": 1_001}),
            vec![
                "spec.groupPriorityMinimum: Invalid value: 0: must be positive and less than 20000",
                "spec.versionPriority: Invalid value: 1001: must be positive and less than 1000",
            ],
        ),
        (
            "v1.example.com",
            json!({"caBundle": "eHg=", "insecureSkipTLSVerify": true}),
            vec![
                "spec.caBundle: Invalid value: \"2 bytes\": local APIServices may not have a caBundle",
                "spec.insecureSkipTLSVerify: Invalid value: true: local APIServices may not have insecureSkipTLSVerify",
            ],
        ),
        (
            "v1.example.com",
            json!({"caBundle": "eHg=", "insecureSkipTLSVerify": true, "service": {"port": 70_000}}),
            vec![
                "spec.service.namespace: Required value",
                "spec.service.name: Required value",
                "spec.service.port: Invalid value: 70000: port is not valid: must be between 1 and 65535, inclusive",
                "spec.insecureSkipTLSVerify: Invalid value: true: may not be true if caBundle is present",
            ],
        ),
        (
            "V1.example.com",
            json!({"version": "V1"}),
            vec!["spec.version: Invalid value: \"V1\": a DNS-1035 label must consist of"],
        ),
    ] {
        let mut spec = valid.clone();
        spec.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        let error = create(json!({"metadata": {"name": name}, "spec": spec})).await.expect_err(name);
        for message in messages {
            assert!(error.contains(message), "{message}\n{error}");
        }
    }
}

#[test]
fn the_time_of_a_condition_changes_with_its_status() {
    let mut status = APIServiceStatus::default();
    let mut first = APIServiceCondition::available(false, "A", "a");
    first.last_transition_time = Some(crate::meta::Time::now().plus_seconds(-60));
    status.set_availability(first.clone());
    status.set_availability(APIServiceCondition::available(false, "B", "b"));
    assert_eq!(status.conditions[0].last_transition_time, first.last_transition_time);
    assert!(!status.is_available());
    status.set_availability(APIServiceCondition::available(true, "B", "b"));
    assert_ne!(status.conditions[0].last_transition_time, first.last_transition_time);
    assert!(status.is_available());
}
