//! apply: creation, refusals, and concurrent applies without lost fields. `patch::apply` has the tests of field
//! ownership.
use std::sync::Arc;

use serde_json::{Value, json};

use super::fixture::{World, applier, at, below, causes, owners, shown, version};
use crate::{
    codec::DecodedDocument,
    meta::options::{FieldValidation, PatchOptions, WriteOptions},
    verbs::Error,
};

#[expect(clippy::needless_pass_by_value, reason = "callers write it in place")]
fn config(name: &str, data: Value) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data})
}

#[expect(clippy::needless_pass_by_value, reason = "callers write it in place")]
fn widget(spec: Value) -> Value {
    json!({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": spec})
}

#[tokio::test]
async fn an_apply_creates_and_the_same_apply_again_writes_nothing() {
    let world = World::new().await;
    let request = world.config("a");
    let made = world.apply(&request, "one", config("a", json!({"x": "1"}))).await.unwrap();
    assert!(made.created);
    let made = shown(made);
    assert_eq!(owners(&made), [("one Apply".to_owned(), json!({"f:data": {"f:x": {}}}))]);
    let head = world.api.cache.revision();
    let again = world.apply(&request, "one", config("a", json!({"x": "1"}))).await.unwrap();
    assert!(!again.created);
    assert_eq!((shown(again), world.api.cache.revision()), (made, head));
}

#[tokio::test]
async fn fields_of_others_are_only_taken_by_force() {
    let world = World::new().await;
    let request = world.config("a");
    world.apply(&request, "one", config("a", json!({"x": "1", "y": "1"}))).await.unwrap();
    let refused = world.apply(&request, "two", config("a", json!({"x": "2"}))).await;
    let Err(Error::Conflicts(message, conflicts)) = refused else { panic!("{refused:?}") };
    assert_eq!(message, "Apply failed with 1 conflict: conflict with \"one\": .data.x");
    assert_eq!((conflicts.len(), conflicts[0].field.as_str()), (1, ".data.x"));
    let force = PatchOptions { force: true, ..applier("two") };
    let taken = shown(world.apply_with(&request, config("a", json!({"x": "2"})), &force).await.unwrap());
    assert_eq!(taken["data"], json!({"x": "2", "y": "1"}));
    let left = shown(world.apply(&request, "one", config("a", json!({}))).await.unwrap());
    assert_eq!(left["data"], json!({"x": "2"}), "fields without an owner are removed");
}

#[tokio::test]
async fn of_conflicts_that_are_longer_than_the_object_the_first_are_reported() {
    let world = World::new().await;
    let request = world.config("a");
    let data = |value: &str| -> Value {
        (0..2_000).map(|number| (format!("{number:04}{}", "k".repeat(240)), json!(value))).collect()
    };
    world.apply(&request, "one", config("a", data("1"))).await.unwrap();
    let refused = world.apply(&request, "two", config("a", data("2"))).await;
    let Err(Error::Conflicts(message, conflicts)) = refused else { panic!("{refused:?}") };
    assert!(message.starts_with("Apply failed with 2000 conflicts: conflicts with \"one\":\n- .data.0000k"));
    assert!(
        message.ends_with(&format!("\nand {} more", 2_000 - conflicts.len())),
        "{}",
        &message[message.len() - 100..]
    );
    assert!((900..1_200).contains(&conflicts.len()) && message.len() < 300_000, "{}", conflicts.len());
}

#[tokio::test]
async fn without_permission_to_create_an_apply_creates_nothing() {
    let world = World::new().await;
    let mut options = applier("one");
    options.write.must_exist = true;
    let refused = world.apply_with(&world.config("a"), config("a", json!({"x": "1"})), &options).await;
    assert!(matches!(refused, Err(Error::NotFound(..))), "{refused:?}");
    world.create_config(json!({"metadata": {"name": "a"}})).await;
    assert!(world.apply_with(&world.config("a"), config("a", json!({"x": "1"})), &options).await.is_ok());
}

#[tokio::test]
async fn invalid_applies_are_reported() {
    let world = World::new().await;
    let request = world.config("a");
    let with = |member: &str, value: Value| {
        let mut body = config("a", json!({}));
        body["metadata"][member] = value;
        body
    };
    let bad = [
        (json!({"metadata": {"name": "a"}}), "invalid object type: /, Kind="),
        (config("b", json!({})), "the name of the object (b) does not match the name on the URL (a)"),
        (with("managedFields", json!([{"manager": "x"}])), "metadata.managedFields must be nil"),
        (with("name", json!("")), "undeterminable: name must be provided"),
        (with("namespace", json!("other")), "the namespace of the provided object does not match"),
    ];
    for (body, told) in bad {
        let refused = world.apply(&request, "one", body.clone()).await;
        assert!(matches!(&refused, Err(Error::BadRequest(why)) if why.contains(told)), "{body}: {refused:?}");
    }
    let mut generated = with("generateName", json!("a-"));
    generated["metadata"].as_object_mut().unwrap().remove("name");
    assert!(matches!(world.apply(&request, "one", generated).await, Err(Error::BadRequest(_))));
    let mut other = config("a", json!({}));
    other["kind"] = json!("Secret");
    assert!(matches!(world.apply(&request, "one", other).await, Err(Error::BadRequest(_))));
    for odd in [json!(null), json!(7), json!([]), json!({"apiVersion": 1})] {
        let refused = world.apply(&request, "one", odd.clone()).await;
        assert!(matches!(refused, Err(Error::BadRequest(_))), "{odd}: {refused:?}");
    }
    assert!(matches!(world.get(&request).await, Err(Error::NotFound(..))), "nothing was made");
}

#[tokio::test]
async fn a_uid_or_a_version_requires_an_existing_object() {
    let world = World::new().await;
    let request = world.config("a");
    let with = |member: &str, value: &str| {
        let mut body = config("a", json!({"x": "1"}));
        body["metadata"][member] = json!(value);
        body
    };
    let uid = "11111111-2222-3333-4444-555555555555";
    let refused = world.apply(&request, "one", with("uid", uid)).await;
    assert!(matches!(&refused, Err(Error::Conflict(_, _, why)) if why.starts_with("uid mismatch")), "{refused:?}");
    let refused = world.apply(&request, "one", with("resourceVersion", "5")).await;
    assert!(matches!(&refused, Err(Error::Conflict(..))), "{refused:?}");
    let made = shown(world.apply(&request, "one", config("a", json!({}))).await.unwrap());
    let newer = shown(world.apply(&request, "one", with("resourceVersion", &version(&made))).await.unwrap());
    assert_ne!(version(&newer), version(&made));
    let mut stale = with("resourceVersion", &version(&made));
    stale["data"] = json!({"x": "2"});
    assert!(matches!(world.apply(&request, "one", stale).await, Err(Error::Conflict(..))));
    let refused = world.apply(&request, "one", with("uid", uid)).await.unwrap_err();
    assert!(causes(&refused)[0].starts_with("metadata.uid: Invalid value"), "{refused:?}");
}

#[tokio::test]
async fn duplicate_fields_are_reported_or_refused() {
    let world = World::new().await;
    let fault = "yaml: unmarshal errors:\n  line 3: key \"x\" already set in map".to_owned();
    let body = DecodedDocument { faults: vec![fault], ..config("a", json!({"x": "1"})).into() };
    let with = |field_validation| {
        let write = WriteOptions { field_validation, ..applier("one").write };
        PatchOptions { write, force: false }
    };
    let strict = world.apply_with(&world.config("a"), body.clone(), &with(FieldValidation::Strict)).await;
    let told = "error strict decoding patch: error converting YAML to JSON: yaml: unmarshal errors:";
    assert!(matches!(&strict, Err(Error::BadRequest(why)) if why.starts_with(told)), "{strict:?}");
    let warned = world.apply_with(&world.config("a"), body.clone(), &with(FieldValidation::Warn)).await.unwrap();
    assert_eq!(warned.warnings, ["line 3: key \"x\" already set in map"]);
    let ignored = world.apply_with(&world.config("a"), body, &with(FieldValidation::Ignore)).await.unwrap();
    assert!(ignored.warnings.is_empty());
}

#[tokio::test]
async fn an_apply_passes_the_whole_pipeline() {
    let world = World::new().await;
    let request = world.widget("w");
    let refused = world.apply(&request, "one", widget(json!({"size": 5000}))).await.unwrap_err();
    assert!(causes(&refused)[0].starts_with("spec.size: Invalid value: 5000"), "{refused:?}");
    let made = shown(world.apply(&request, "one", widget(json!({"size": 1, "fixed": "a"}))).await.unwrap());
    assert_eq!((&made["spec"]["color"], &made["metadata"]["generation"]), (&json!("Red"), &json!(1)));
    let color = owners(&made)[0].1["f:spec"].get("f:color").cloned();
    assert_eq!(color, None, "an applier owns what it names, not the defaults");
    let refused = world.apply(&request, "one", widget(json!({"size": 1, "fixed": "b"}))).await.unwrap_err();
    assert!(causes(&refused).iter().any(|cause| cause.starts_with("spec.fixed")), "{refused:?}");
    let grown = shown(world.apply(&request, "one", widget(json!({"size": 2, "fixed": "a"}))).await.unwrap());
    assert_eq!(grown["metadata"]["generation"], 2);
}

#[tokio::test]
async fn subresources_can_be_applied_and_never_create_objects() {
    let world = World::new().await;
    let at = |subresource| below(world.widget("w"), subresource);
    let mut body = widget(json!({"size": 50}));
    body["status"] = json!({"phase": "Ready"});
    let scale = json!({"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "w"},
        "spec": {"replicas": 7}});
    for (of, body) in [("status", &body), ("scale", &scale)] {
        let missing = world.apply(&at(of), "one", body.clone()).await;
        assert!(matches!(missing, Err(Error::NotFound(..))), "{of:?}: {missing:?}");
    }
    world.apply(&world.widget("w"), "one", widget(json!({"size": 1, "replicas": 3}))).await.unwrap();
    let ready = shown(world.apply(&at("status"), "c", body).await.unwrap());
    assert_eq!((&ready["spec"]["size"], &ready["status"]["phase"]), (&json!(1), &json!("Ready")));
    assert_eq!(owners(&ready)[0], ("c Apply status".to_owned(), json!({"f:status": {"f:phase": {}}})));

    let refused = world.apply(&at("scale"), "hpa", scale.clone()).await;
    let Err(Error::Conflicts(message, _)) = refused else { panic!("{refused:?}") };
    assert_eq!(message, "Apply failed with 1 conflict: conflict with \"one\": .spec.replicas");
    let force = PatchOptions { force: true, ..applier("hpa") };
    let scaled = shown(world.apply_with(&at("scale"), scale, &force).await.unwrap());
    assert_eq!(scaled["spec"], json!({"replicas": 7}));
    let object = world.get(&world.widget("w")).await.unwrap();
    assert_eq!(object["spec"]["replicas"], 7);
    let replicas = json!({"f:spec": {"f:replicas": {}}});
    assert!(owners(&object).contains(&("hpa Apply scale".to_owned(), replicas)), "{object}");
    let one = owners(&object).into_iter().find(|(who, _)| who == "one Apply").unwrap();
    assert_eq!(one.1, json!({"f:spec": {"f:size": {}}}), "taken away");
}

#[tokio::test]
async fn a_dry_run_and_a_terminating_namespace_create_nothing() {
    let world = World::new().await;
    let mut dry = applier("one");
    dry.write.dry_run = true;
    let tried = world.apply_with(&world.config("a"), config("a", json!({"x": "1"})), &dry).await.unwrap();
    assert!(tried.created && version(&shown(tried)).is_empty());
    assert!(matches!(world.get(&world.config("a")).await, Err(Error::NotFound(..))));
    world.apply(&world.config("old"), "one", config("old", json!({"x": "1"}))).await.unwrap();
    world.delete(&at(&world.namespaces, "", "ns")).await.unwrap();
    let refused = world.apply(&world.config("a"), "one", config("a", json!({"x": "1"}))).await;
    assert!(matches!(refused, Err(Error::Forbidden { .. })), "{refused:?}");
    assert!(world.apply(&world.config("old"), "one", config("old", json!({"x": "2"}))).await.is_ok());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_appliers_lose_nothing() {
    const WRITERS: usize = 12;
    for round in 0..10 {
        let world = Arc::new(World::new().await);
        let name = format!("r{round}");
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let (world, name) = (world.clone(), name.clone());
                tokio::spawn(async move {
                    let body = config(&name, json!({format!("k{writer}"): "v"}));
                    world.apply(&world.config(&name), &format!("m{writer}"), body).await.map(|done| done.created)
                })
            })
            .collect();
        let mut created = 0;
        for writer in writers {
            created += usize::from(writer.await.unwrap().expect("no conflict"));
        }
        let last = world.get(&world.config(&name)).await.unwrap();
        assert_eq!((created, last["data"].as_object().unwrap().len(), owners(&last).len()), (1, WRITERS, WRITERS));
    }
}
