//! status and scale: the fields that writes through them do not change.
use serde_json::{Value, json};

use super::fixture::{World, below, causes, merge_patch, version};
use crate::{
    meta::options::{FieldValidation, PatchOptions, WriteOptions},
    verbs::Error,
};

async fn widget(world: &World) -> Value {
    world.create_widget(json!({"metadata": {"name": "w"}, "spec": {"size": 2, "replicas": 3}})).await
}

#[tokio::test]
async fn status_and_spec_are_written_separately() {
    let world = World::new().await;
    let made = widget(&world).await;
    let status = below(world.widget("w"), "status");
    let body = json!({
        "metadata": {"name": "w", "resourceVersion": version(&made), "labels": {"no": "no"}},
        "spec": {"size": 50},
        "status": {"phase": "Ready"},
    });
    let ready = world.update(&status, body).await.unwrap();
    assert_eq!((&ready["spec"], &ready["status"]), (&made["spec"], &json!({"phase": "Ready"})));
    assert!(ready["metadata"].get("labels").is_none());
    assert_eq!(ready["metadata"]["generation"], 1);
    assert_ne!(version(&ready), version(&made));

    let failed = world.merge(&status, json!({"status": {"phase": "Failed"}, "spec": {"size": 77}})).await.unwrap();
    assert_eq!((&failed["spec"], &failed["status"]["phase"]), (&made["spec"], &json!("Failed")));
    let body = json!({
        "metadata": {"name": "w", "resourceVersion": version(&failed)}, "spec": {"size": 4}, "status": {"phase": "No"},
    });
    let grown = world.update(&world.widget("w"), body).await.unwrap();
    assert_eq!((&grown["spec"]["size"], &grown["status"]["phase"]), (&json!(4), &json!("Failed")));
    assert_eq!(world.get(&status).await.unwrap(), grown);
}

#[tokio::test]
async fn a_stale_status_is_a_conflict() {
    let world = World::new().await;
    let made = widget(&world).await;
    world.merge(&world.widget("w"), json!({"spec": {"size": 3}})).await.unwrap();
    let refused = world.update(&below(world.widget("w"), "status"), made).await;
    assert!(matches!(refused, Err(Error::Conflict(..))));
}

#[tokio::test]
async fn scale_uses_the_paths_of_the_kind() {
    let world = World::new().await;
    widget(&world).await;
    let status = json!({"status": {"replicas": 4, "selector": "app=w"}});
    let object = world.merge(&below(world.widget("w"), "status"), status).await.unwrap();
    let request = below(world.widget("w"), "scale");
    let scale = world.get(&request).await.unwrap();
    assert_eq!((&scale["kind"], &scale["apiVersion"]), (&json!("Scale"), &json!("autoscaling/v1")));
    assert_eq!(
        (&scale["spec"], &scale["status"]),
        (&json!({"replicas": 3}), &json!({"replicas": 4, "selector": "app=w"}))
    );
    assert_eq!(version(&scale), version(&object));

    let put = world.update(&request, json!({"metadata": {"name": "w"}, "spec": {"replicas": 9}})).await.unwrap();
    assert_eq!(put["spec"], json!({"replicas": 9}));
    let patched = world.merge(&request, json!({"spec": {"replicas": 0}})).await.unwrap();
    assert_eq!(patched["spec"], json!({}));
    let object = world.get(&world.widget("w")).await.unwrap();
    assert_eq!((&object["spec"]["replicas"], &object["metadata"]["generation"]), (&json!(0), &json!(3)));
    assert_eq!(object["spec"]["size"], 2);
}

#[tokio::test]
async fn scale_refuses_invalid_values() {
    let world = World::new().await;
    let made = widget(&world).await;
    let request = below(world.widget("w"), "scale");
    let negative =
        world.update(&request, json!({"metadata": {"name": "w"}, "spec": {"replicas": -1}})).await.unwrap_err();
    assert_eq!(causes(&negative), [".spec.replicas: Invalid value: -1: should be a non-negative integer"]);
    for bad in [
        json!({"kind": "Widget", "metadata": {"name": "w"}}),
        json!({"apiVersion": "autoscaling/v2", "metadata": {"name": "w"}}),
        json!({"metadata": {"name": "w"}, "spec": {"replicas": "many"}}),
        json!({"metadata": {"name": "w"}, "spec": {"replicas": 1i64 << 40}}),
        json!({"metadata": {"name": "w"}, "spec": {"replicas": 1.5}}),
        json!({"metadata": {"name": "other"}}),
        json!(7),
    ] {
        assert!(matches!(world.update(&request, bad.clone()).await, Err(Error::BadRequest(_))), "{bad}");
    }
    world.merge(&world.widget("w"), json!({"spec": {"size": 3}})).await.unwrap();
    let stale = json!({"metadata": {"name": "w", "resourceVersion": version(&made)}, "spec": {"replicas": 5}});
    assert!(matches!(world.update(&request, stale).await, Err(Error::Conflict(..))));
    let other = json!({"metadata": {"name": "w", "uid": "other"}, "spec": {"replicas": 5}});
    let refused = world.update(&request, other).await;
    assert!(matches!(refused, Err(Error::Conflict(_, _, why)) if why.contains("UID in precondition: other")));
}

#[tokio::test]
async fn strict_validation_applies_to_a_scale() {
    let world = World::new().await;
    widget(&world).await;
    let request = below(world.widget("w"), "scale");
    let with = |field_validation| WriteOptions { field_validation, ..WriteOptions::of_server("me") };
    let body = || json!({"metadata": {"name": "w", "nope": 1}, "spec": {"replicas": 3, "nope": 1}, "huh": 1});
    let told = ["metadata.nope", "huh", "spec.nope"].map(|field| format!("unknown field {field:?}"));
    let sorted = |mut warnings: Vec<String>| {
        warnings.sort();
        warnings
    };
    let mut expected = told.to_vec();
    expected.sort();
    let warned = world.api.update(&request, body(), &with(FieldValidation::Warn)).await.unwrap().warnings;
    assert_eq!(sorted(warned), expected);
    let refused = world.api.update(&request, body(), &with(FieldValidation::Strict)).await;
    let starts = "Scale in version \"v1\" cannot be handled as a Scale: strict decoding error: ";
    assert!(matches!(&refused, Err(Error::BadRequest(why)) if why.starts_with(starts)), "{refused:?}");
    assert!(world.api.update(&request, body(), &with(FieldValidation::Ignore)).await.unwrap().warnings.is_empty());

    let patch = |field_validation| {
        let write = with(field_validation);
        (merge_patch(&json!({"spec": {"replicas": 4, "nope": 1}})), PatchOptions { write, force: false })
    };
    let (merge, options) = patch(FieldValidation::Warn);
    assert_eq!(world.api.patch(&request, merge, &options).await.unwrap().warnings, ["unknown field \"spec.nope\""]);
    let (merge, options) = patch(FieldValidation::Strict);
    let refused = world.api.patch(&request, merge, &options).await.unwrap_err();
    assert!(causes(&refused)[0].starts_with("patch: Invalid value: "), "{refused:?}");
}

#[tokio::test]
async fn a_kind_without_the_subresource_has_none() {
    let world = World::new().await;
    world.create_config(json!({"metadata": {"name": "a"}})).await;
    for subresource in ["status", "scale", "finalize"] {
        let request = below(world.config("a"), subresource);
        assert!(matches!(world.get(&request).await, Err(Error::NotFound(..))), "{subresource:?}");
        assert!(world.update(&request, json!({"metadata": {"name": "a"}})).await.is_err(), "{subresource:?}");
    }
}
