//! update: versions as preconditions, preserved fields, immutable fields.
use serde_json::json;

use super::fixture::{World, at, below, causes, dry_run, shown, version};
use crate::{
    kind::{Kind, model::Names},
    meta::options::{FieldValidation, WriteOptions},
    registry::{index::Indexes, record},
    storage::{Expect, Op, Store},
    verbs::Error,
};

#[tokio::test]
async fn a_stale_version_is_a_conflict() {
    let world = World::new().await;
    let made = world.create_config(json!({"metadata": {"name": "a"}, "data": {"k": "1"}})).await;
    let of = |version: &str, k: &str| json!({"metadata": {"name": "a", "resourceVersion": version}, "data": {"k": k}});
    let request = world.config("a");
    let second = world.update(&request, of(&version(&made), "2")).await.unwrap();
    assert_ne!(version(&made), version(&second));
    assert_eq!(second["metadata"]["uid"], made["metadata"]["uid"], "filled in");
    assert_eq!(second["metadata"]["creationTimestamp"], made["metadata"]["creationTimestamp"]);

    let stale = world.update(&request, of(&version(&made), "3")).await;
    assert!(matches!(stale, Err(Error::Conflict(_, _, why)) if why.starts_with("the object has been modified")));
    assert_eq!(world.get(&request).await.unwrap(), second);
    assert!(world.update(&request, of("", "4")).await.is_ok(), "this kind may be updated without a version");
    assert!(matches!(world.update(&request, of("x", "5")).await, Err(Error::Unknown(_))));
}

#[tokio::test]
async fn no_change_writes_nothing() {
    let world = World::new().await;
    let made = world.create_widget(json!({"metadata": {"name": "w"}, "spec": {"size": 2}})).await;
    let head = world.api.cache.revision();
    let bare = json!({"metadata": {"name": "w", "resourceVersion": version(&made)}, "spec": {"size": 2}});
    assert_eq!(world.update(&world.widget("w"), bare).await.unwrap(), made, "defaults are filled in again");
    assert_eq!(world.update(&world.widget("w"), made.clone()).await.unwrap(), made);
    assert_eq!(world.api.cache.revision(), head);
}

#[tokio::test]
async fn some_kinds_need_a_version() {
    let world = World::new().await;
    world.create_widget(json!({"metadata": {"name": "w"}, "spec": {"size": 2}})).await;
    let body = json!({"metadata": {"name": "w"}, "spec": {"size": 3}});
    let refused = world.update(&world.widget("w"), body).await.unwrap_err();
    assert!(matches!(&refused, Error::Invalid(kind, _, _) if kind.kind == "widgets"));
    assert_eq!(causes(&refused), ["metadata.resourceVersion: Invalid value: 0: must be specified for an update"]);
}

#[tokio::test]
async fn another_name_namespace_or_uid_is_refused() {
    let world = World::new().await;
    world.create_config(json!({"metadata": {"name": "a"}})).await;
    let request = world.config("a");
    let Err(Error::BadRequest(message)) = world.update(&request, json!({"metadata": {"name": "b"}})).await else {
        panic!("another name")
    };
    assert_eq!(message, "the name of the object (b) does not match the name on the URL (a)");
    let elsewhere = world.update(&request, json!({"metadata": {"namespace": "other"}})).await;
    assert!(matches!(elsewhere, Err(Error::BadRequest(why)) if why.starts_with("the namespace")));
    let other = json!({"metadata": {"name": "a", "uid": "other", "resourceVersion": "1"}});
    let Err(Error::Conflict(_, _, why)) = world.update(&request, other).await else { panic!("another uid") };
    let told = "StorageError: invalid object, Code: 4, Key: /registry/configmaps/ns/a, ResourceVersion: 0, \
                AdditionalErrorMsg: Precondition failed: UID in precondition: other, UID in object meta: ";
    assert!(why.starts_with(told), "before the version: {why}");
}

#[tokio::test]
async fn an_updated_object_must_contain_its_name() {
    let world = World::new().await;
    world.create_config(json!({"metadata": {"name": "a"}})).await;
    let made = world.create_widget(json!({"metadata": {"name": "w"}, "spec": {"size": 2}})).await;
    let (request, nameless) = (world.config("a"), json!({"metadata": {"name": null}}));
    let scale = below(world.widget("w"), "scale");
    let status = below(world.widget("w"), "status");
    let versioned = json!({"metadata": {"resourceVersion": version(&made)}, "spec": {"size": 2}});
    for (refused, name) in [
        (world.update(&request, json!({"data": {"k": "v"}})).await, "a"),
        (world.merge(&request, nameless.clone()).await, "a"),
        (world.json(&request, json!([{"op": "remove", "path": "/metadata/name"}])).await, "a"),
        (world.update(&status, versioned).await, "w"),
        (world.update(&scale, json!({"spec": {"replicas": 2}})).await, "w"),
        (world.merge(&scale, nameless).await, "w"),
        (
            world.apply(&world.config("new"), "me", json!({"apiVersion": "v1", "kind": "ConfigMap"})).await.map(shown),
            "new",
        ),
    ] {
        let told = format!("the name of the object ({name} based on URL) was undeterminable: name must be provided");
        assert!(matches!(&refused, Err(Error::BadRequest(why)) if *why == told), "{refused:?}");
    }
    let named = json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"k": "v"}});
    assert!(world.apply(&request, "me", named).await.is_ok(), "the object that is there has one");
}

#[tokio::test]
async fn errors_in_a_body_are_reported_before_a_missing_object() {
    let world = World::new().await;
    let strict = WriteOptions { field_validation: FieldValidation::Strict, ..WriteOptions::default() };
    let missing = world.config("missing");
    for body in [json!({"metadata": {"name": "other"}}), json!({"metadata": {"name": "missing"}, "nope": 1})] {
        let refused = world.api.update(&missing, body, &strict).await;
        assert!(matches!(refused, Err(Error::BadRequest(_))), "{refused:?}");
    }
    let refused = world.api.update(&missing, json!({"metadata": {"name": "missing"}}), &strict).await;
    assert!(matches!(refused, Err(Error::NotFound(..))));
}

#[tokio::test]
async fn unknown_fields_of_an_update_are_refused_if_that_is_asked_for() {
    let world = World::new().await;
    let made = world.create_widget(json!({"metadata": {"name": "w"}, "spec": {"size": 2, "fixed": "a"}})).await;
    let strict = WriteOptions { field_validation: FieldValidation::Strict, ..WriteOptions::default() };
    let mut changed = made.clone();
    changed["spec"]["nope"] = json!(1);
    let refused = world.api.update(&world.widget("w"), changed, &strict).await;
    assert!(matches!(&refused, Err(Error::BadRequest(why)) if why.contains("spec.nope")), "{refused:?}");
}

#[tokio::test]
async fn immutable_fields_do_not_change() {
    let world = World::new().await;
    let made = world.create_widget(json!({"metadata": {"name": "w"}, "spec": {"size": 2, "fixed": "a"}})).await;
    let mut changed = made.clone();
    changed["spec"]["fixed"] = json!("b");
    let refused = world.update(&world.widget("w"), changed).await.unwrap_err();
    assert!(causes(&refused).iter().any(|cause| cause.starts_with("spec.fixed")), "{refused:?}");
    let mut grown = made;
    grown["spec"]["size"] = json!(3);
    assert!(world.update(&world.widget("w"), grown).await.is_ok());
}

#[tokio::test]
async fn a_missing_object_is_created_only_if_the_kind_allows_it() {
    let world = World::new().await;
    let body = json!({"metadata": {"name": "new"}, "data": {"k": "v"}});
    assert!(matches!(world.update(&world.config("new"), body.clone()).await, Err(Error::NotFound(..))));
    let kind = Kind::clone(&world.configs.kind).with(|shared, version, _| {
        shared.names = Names::new("Lease", "leases");
        version.create_on_update = true;
    });
    let leases = world.api.registry.register([kind]).unwrap();
    let request = at(&leases, "ns", "new");
    let other = json!({"metadata": {"name": "new", "uid": "of-one-that-was"}});
    let refused = world.api.update(&request, other, &WriteOptions::default()).await;
    assert!(matches!(refused, Err(Error::Conflict(_, _, why)) if why.ends_with("UID in object meta: ")));
    let stale = json!({"metadata": {"name": "stale", "resourceVersion": "7"}});
    assert!(world.api.update(&at(&leases, "ns", "stale"), stale, &WriteOptions::default()).await.unwrap().created);
    let written = world.api.update(&request, body.clone(), &WriteOptions::default()).await.unwrap();
    assert!(written.created);
    assert_eq!(shown(written)["metadata"]["name"], "new");
    let again = world.api.update(&request, body, &WriteOptions::default()).await.unwrap();
    assert!(!again.created);
}

#[tokio::test]
async fn a_dry_run_shows_the_change_and_keeps_the_object() {
    let world = World::new().await;
    let made = world.create_config(json!({"metadata": {"name": "a"}, "data": {"k": "1"}})).await;
    let request = world.config("a");
    let body = json!({"metadata": {"name": "a"}, "data": {"k": "2"}});
    let shown = world.api.update(&request, body, &dry_run()).await.map(shown).unwrap();
    assert_eq!((&shown["data"]["k"], version(&shown)), (&json!("2"), version(&made)));
    assert_eq!(world.get(&request).await.unwrap(), made);
}

#[tokio::test]
async fn any_write_stores_an_object_of_an_older_schema_in_its_current_form() {
    let world = World::new().await;
    for (name, write) in [("update", 0), ("merge", 1), ("apply", 2)] {
        let made = world.create_widget(json!({"metadata": {"name": name}, "spec": {"size": 2}})).await;
        let mut older = made.clone();
        older["spec"].as_object_mut().unwrap().remove("color");
        older["spec"]["gone"] = json!("a field of old");
        let key = format!("{}ns/{name}", world.widgets.objects.prefix());
        let value = Some(record::encode("v1", 0, [("v1", &Indexes::of_paths(&[]), &older)], &older).into());
        let op = Op { key: key.as_str().into(), value, expect: Expect::Any, lifetime: None };
        let revision = world.store.commit(vec![op].into()).await.unwrap()[0];
        world.api.cache.reached(revision).await;
        let request = world.widget(name);
        let shown_as = world.get(&request).await.unwrap();
        assert_eq!(shown_as["spec"], made["spec"], "with the default, and without what is no longer known");
        assert_eq!(version(&shown_as), revision.to_string(), "reading writes nothing");
        let config = json!({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": name}});
        let same = match write {
            0 => world.update(&request, shown_as).await.unwrap(),
            1 => world.merge(&request, json!({})).await.unwrap(),
            _ => shown(world.apply(&request, "me", config).await.unwrap()),
        };
        assert_eq!(same["spec"], made["spec"]);
        let stored = world.store.get(&key).unwrap().unwrap();
        let body = String::from_utf8(record::decode(&stored.value.unwrap()).unwrap().body.json()).unwrap();
        assert!(body.contains("\"color\":\"Red\""), "{name}: {body}");
        assert!(body.contains("gone"), "{name}: a newer program may have written what this one does not know: {body}");
        let head = world.api.cache.revision();
        world.merge(&request, json!({})).await.unwrap();
        assert_eq!(world.api.cache.revision(), head, "once");
    }
}

/// The beginning of an older server's record of an object of the compiled kind, up to the schema's fingerprint; then
/// the rest.
const OLD_START: &[u8] = b"\x01";
const OLD_END: &[u8] = br#"v1{"metadata":{"creationTimestamp":"2026-01-02T03:04:05Z","labels":{"l":"x"},"managedFields":[{"apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:data":{"f:k":{}}},"manager":"me","operation":"Apply","time":"2026-01-02T03:04:05Z"}],"name":"old","namespace":"ns","uid":"5cbf9a6c-45f1-4a08-a3f4-3a5f1f9c2c60"},"data":{"k":"1"}}"#;

#[tokio::test]
async fn a_record_of_layout_1_is_served_and_written_in_layout_2_by_its_next_write() {
    let world = World::new().await;
    let fingerprint = crate::schema::fingerprint(&world.configs.kind.version.schema).to_le_bytes();
    let value = [OLD_START, &fingerprint, b"\x02", OLD_END].concat();
    let key = format!("{}ns/old", world.configs.objects.prefix());
    let op = Op { key: key.as_str().into(), value: Some(value.into()), expect: Expect::Any, lifetime: None };
    let revision = world.store.commit(vec![op].into()).await.unwrap()[0];
    world.api.cache.reached(revision).await;
    let restarted = World::over(world.store.clone()).await;
    let json = String::from_utf8(OLD_END[2..].to_vec()).unwrap().replace(
        r#"{"metadata":{"#,
        &format!(r#"{{"kind":"ConfigMap","apiVersion":"v1","metadata":{{"resourceVersion":"{revision}","#),
    );
    let layout = || world.store.get(&key).unwrap().unwrap().value.unwrap()[0];
    for world in [&world, &restarted] {
        let object = world.configs.objects.snapshot().get("ns/old").unwrap();
        assert_eq!((String::from_utf8(object.json().to_vec()).unwrap(), object.label("l")), (json.clone(), Some("x")));
    }
    let request = restarted.config("old");
    let config =
        |k: &str| json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "old"}, "data": {"k": k}});
    let same = shown(restarted.apply(&request, "me", config("1")).await.unwrap());
    assert_eq!((version(&same), layout()), (revision.to_string(), 1), "an apply that changes nothing writes nothing");
    let changed = shown(restarted.apply(&request, "me", config("2")).await.unwrap());
    assert_eq!((&changed["data"]["k"], layout()), (&json!("2"), 2));
    assert_eq!(changed["metadata"]["labels"], same["metadata"]["labels"]);
    let again = World::over(world.store.clone()).await;
    assert_eq!(again.get(&again.config("old")).await.unwrap(), changed);
}
