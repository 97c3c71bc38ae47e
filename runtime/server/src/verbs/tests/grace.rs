//! Graceful deletion: marking, shortening, and the end.
use std::sync::Arc;

use serde_json::{Value, json};

use super::fixture::{World, at, value};
use crate::{
    kind::{
        Kind,
        model::{Grace, Names, Path},
    },
    meta::{Time, options::DeleteOptions},
    registry::ResourceEntry,
    verbs::{DeleteResult, Error, Request},
};

/// A kind with a grace period.
fn graceful(world: &World, plural: &str, grace: Grace) -> Arc<ResourceEntry> {
    let kind = Kind::clone(&world.widgets.kind).with(|shared, _, _| {
        shared.names = Names::new(plural, plural);
        shared.grace = Some(grace);
    });
    world.api.registry.register([kind]).unwrap()
}

async fn made(world: &World, resource: &Arc<ResourceEntry>, finalizers: Value) -> Request {
    let body = json!({"metadata": {"name": "g", "finalizers": finalizers}, "spec": {"size": 7}});
    world.create(resource, "ns", body).await.unwrap();
    at(resource, "ns", "g")
}

/// The object after a deletion; `None` if it is gone.
async fn delete(world: &World, request: &Request, grace: Option<i64>) -> Option<Value> {
    let options = DeleteOptions { grace_period_seconds: grace, ..DeleteOptions::default() };
    match world.api.delete(request, &options).await.unwrap() {
        DeleteResult::Marked(object) => Some(value(&object)),
        DeleteResult::Gone { .. } | DeleteResult::Forced => None,
    }
}

fn grace(object: &Value) -> Option<i64> {
    object["metadata"]["deletionGracePeriodSeconds"].as_i64()
}

/// Seconds from now until the object's deadline.
fn ahead(object: &Value) -> i64 {
    let at: Time = object["metadata"]["deletionTimestamp"].as_str().unwrap().parse().unwrap();
    at.timestamp().as_second() - Time::now().timestamp().as_second()
}

#[tokio::test]
async fn a_deletion_marks_and_only_a_grace_period_of_zero_removes() {
    let world = World::new().await;
    let resource = graceful(&world, "slows", Grace::Seconds(30));
    let request = made(&world, &resource, json!([])).await;
    let marked = delete(&world, &request, None).await.expect("marked");
    assert_eq!(grace(&marked), Some(30));
    assert!((29..=30).contains(&ahead(&marked)), "{marked}");
    assert_eq!(marked["metadata"]["generation"], 2);
    assert_eq!(delete(&world, &request, None).await.as_ref(), Some(&marked), "again is the same");
    assert_eq!(delete(&world, &request, Some(60)).await.as_ref(), Some(&marked), "it is never lengthened");
    let changed = world.merge(&request, json!({"spec": {"size": 8}})).await.unwrap();
    assert_eq!((grace(&changed), &changed["spec"]["size"]), (Some(30), &json!(8)), "it may change while it ends");

    let shorter = delete(&world, &request, Some(10)).await.expect("still there");
    assert_eq!(grace(&shorter), Some(10));
    assert!((8..=10).contains(&ahead(&shorter)), "{shorter}");
    assert_eq!(shorter["metadata"]["generation"], changed["metadata"]["generation"], "it was marked before");
    assert_eq!(delete(&world, &request, Some(0)).await, None);
    assert!(matches!(world.get(&request).await, Err(Error::NotFound(..))));
}

#[tokio::test]
async fn the_client_s_grace_period_has_precedence() {
    let world = World::new().await;
    let resource = graceful(&world, "slows", Grace::Seconds(30));
    for (asked, given) in [(5, 5), (600, 600), (-3, 1), (i64::MIN, 1)] {
        let request = made(&world, &resource, json!([])).await;
        assert_eq!(grace(&delete(&world, &request, Some(asked)).await.unwrap()), Some(given), "{asked}");
        assert_eq!(delete(&world, &request, Some(0)).await, None);
    }
    let request = made(&world, &resource, json!([])).await;
    assert_eq!(delete(&world, &request, Some(0)).await, None, "zero is at once");
    let request = made(&world, &resource, json!([])).await;
    let far = delete(&world, &request, Some(i64::MAX)).await.expect("marked");
    assert_eq!(grace(&far), Some(i64::MAX));
    assert!(far["metadata"]["deletionTimestamp"].as_str().unwrap().parse::<Time>().is_ok(), "{far}");
}

#[tokio::test]
async fn each_object_may_have_its_own_grace_period() {
    let world = World::new().await;
    let path = Path(vec!["spec".to_owned(), "size".to_owned()]);
    let resource = graceful(&world, "owns", Grace::Path(path));
    let request = made(&world, &resource, json!([])).await;
    assert_eq!(grace(&delete(&world, &request, None).await.unwrap()), Some(7));
    let absent = Path(vec!["spec".to_owned(), "fixed".to_owned()]);
    let resource = graceful(&world, "nones", Grace::Path(absent));
    let request = made(&world, &resource, json!([])).await;
    assert_eq!(delete(&world, &request, None).await, None, "what says nothing gets nothing");
}

#[tokio::test]
async fn a_passed_deadline_is_not_moved_back() {
    let world = World::new().await;
    let resource = graceful(&world, "slows", Grace::Seconds(30));
    let request = made(&world, &resource, json!([])).await;
    delete(&world, &request, Some(2)).await.unwrap();
    tokio::time::sleep(std::time::Duration::from_millis(2_100)).await;
    let late = delete(&world, &request, Some(1)).await.expect("it is not deleted with zero seconds");
    assert_eq!((grace(&late), ahead(&late)), (Some(1), 0));
    assert_eq!(delete(&world, &request, Some(0)).await, None);
}

#[tokio::test]
async fn finalizers_and_grace_both_hold() {
    let world = World::new().await;
    let resource = graceful(&world, "slows", Grace::Seconds(30));
    let request = made(&world, &resource, json!(["example.com/x"])).await;
    delete(&world, &request, None).await.unwrap();
    let free = world.merge(&request, json!({"metadata": {"finalizers": null}})).await.unwrap();
    assert_eq!(grace(&free), Some(30));
    assert!(world.get(&request).await.is_ok(), "its grace still runs");
    assert_eq!(delete(&world, &request, Some(0)).await, None);

    let request = made(&world, &resource, json!(["example.com/x"])).await;
    let marked = delete(&world, &request, Some(0)).await.expect("the finalizer holds it");
    assert_eq!(grace(&marked), Some(0));
    world.merge(&request, json!({"metadata": {"finalizers": null}})).await.unwrap();
    assert!(matches!(world.get(&request).await, Err(Error::NotFound(..))));
}

#[tokio::test]
async fn a_kind_without_a_grace_period_deletes_at_once() {
    let world = World::new().await;
    world.create_widget(json!({"metadata": {"name": "w"}, "spec": {"size": 1}})).await;
    assert_eq!(delete(&world, &world.widget("w"), Some(60)).await, None);
    let body = json!({"metadata": {"name": "w", "finalizers": ["example.com/x"]}, "spec": {"size": 1}});
    world.create_widget(body).await;
    let marked = delete(&world, &world.widget("w"), Some(60)).await.unwrap();
    assert_eq!(grace(&marked), Some(0));
    assert!(ahead(&marked) <= 0);
}

#[tokio::test]
async fn a_dry_run_marks_nothing() {
    let world = World::new().await;
    let resource = graceful(&world, "slows", Grace::Seconds(30));
    let request = made(&world, &resource, json!([])).await;
    let before = world.get(&request).await.unwrap();
    let options = DeleteOptions { dry_run: true, ..DeleteOptions::default() };
    let DeleteResult::Marked(shown) = world.api.delete(&request, &options).await.unwrap() else { panic!("gone") };
    assert_eq!(grace(&value(&shown)), Some(30));
    assert_eq!(world.get(&request).await.unwrap(), before);
}
