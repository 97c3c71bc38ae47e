//! watch: its start, and its selection.
use std::time::Duration;

use serde_json::json;

use super::fixture::{World, at, selecting, version};
use crate::{
    meta::{Revision, options::ListOptions},
    verbs::{Request, WatchResult},
};

async fn watch(world: &World, request: &Request, options: &ListOptions) -> WatchResult {
    world.api.watch(request, options).await.expect("a watch")
}

fn from(revision: &str) -> ListOptions {
    ListOptions { resource_version: Some(Revision(revision.parse().unwrap())), ..ListOptions::default() }
}

fn initial(watch_result: &WatchResult) -> Vec<String> {
    watch_result.initial.iter().map(|object| object.name().to_owned()).collect()
}

/// The events within a short time.
async fn events(watch_result: &mut WatchResult) -> Vec<String> {
    let mut seen = Vec::new();
    while let Ok(Some(event)) = tokio::time::timeout(Duration::from_millis(50), watch_result.watch.next()).await {
        let event = event.unwrap();
        seen.push(format!("{} {}", event.event_type.as_str(), event.object.name()));
    }
    seen
}

#[tokio::test]
async fn without_a_version_the_current_state_comes_first() {
    let world = World::new().await;
    world.create_config(json!({"metadata": {"name": "a"}})).await;
    for options in [ListOptions::default(), from("0")] {
        let mut watch_result = watch(&world, &world.config(""), &options).await;
        assert_eq!((initial(&watch_result), watch_result.initial_bookmark), (vec!["a".into()], None));
        assert_eq!(events(&mut watch_result).await, [""; 0], "not a second time");
        world.create_config(json!({"metadata": {"name": "b"}})).await;
        assert_eq!(events(&mut watch_result).await, ["ADDED b"]);
        world.delete(&world.config("b")).await.unwrap();
    }
}

#[tokio::test]
async fn from_a_version_come_the_changes_after_it() {
    let world = World::new().await;
    let made = world.create_config(json!({"metadata": {"name": "a", "labels": {"app": "x"}}})).await;
    world.merge(&world.config("a"), json!({"data": {"k": "2"}})).await.unwrap();
    world.create_config(json!({"metadata": {"name": "b", "labels": {"app": "y"}}})).await;
    world.merge(&world.config("a"), json!({"metadata": {"labels": {"app": "z"}}})).await.unwrap();
    world.delete(&world.config("b")).await.unwrap();

    let start = from(&version(&made));
    let with = |selector: &str| ListOptions { labels: selecting(selector, "").labels, ..start.clone() };
    let mut all = watch(&world, &world.config(""), &start).await;
    assert_eq!(events(&mut all).await, ["MODIFIED a", "ADDED b", "MODIFIED a", "DELETED b"]);
    let mut leaves = watch(&world, &world.config(""), &with("app=x")).await;
    assert_eq!(events(&mut leaves).await, ["MODIFIED a", "DELETED a"]);
    let mut enters = watch(&world, &world.config(""), &with("app=z")).await;
    assert_eq!(events(&mut enters).await, ["ADDED a"]);
    let by_name = ListOptions { fields: selecting("", "metadata.name=b").fields, ..start.clone() };
    let mut one = watch(&world, &world.config(""), &by_name).await;
    assert_eq!(events(&mut one).await, ["ADDED b", "DELETED b"]);
}

#[tokio::test]
async fn initial_events_end_with_a_bookmark_or_are_omitted() {
    let world = World::new().await;
    world.create_config(json!({"metadata": {"name": "a"}})).await;
    let asked = ListOptions { initial_events: Some(true), bookmarks: true, ..ListOptions::default() };
    let watch_result = watch(&world, &world.config(""), &asked).await;
    assert_eq!(initial(&watch_result), ["a"]);
    assert_eq!(watch_result.initial_bookmark, Some(world.api.cache.revision()));
    let none = ListOptions { initial_events: Some(false), ..ListOptions::default() };
    let mut watch_result = watch(&world, &world.config(""), &none).await;
    assert!(watch_result.initial.is_empty() && events(&mut watch_result).await.is_empty());
}

#[tokio::test]
async fn a_declared_field_narrows_a_watch() {
    let world = World::new().await;
    let all = at(&world.widgets, "", "");
    let mut blue = watch(&world, &all, &selecting("", "spec.color=Blue")).await;
    world.create_widget(json!({"metadata": {"name": "w"}, "spec": {"size": 1}})).await;
    for color in ["Blue", "Red"] {
        world.merge(&world.widget("w"), json!({"spec": {"color": color}})).await.unwrap();
    }
    assert_eq!(events(&mut blue).await, ["ADDED w", "DELETED w"]);
}

#[tokio::test]
async fn a_watch_of_a_namespace_ignores_others() {
    let world = World::new().await;
    world.create(&world.namespaces, "", json!({"metadata": {"name": "other"}})).await.unwrap();
    let mut here = watch(&world, &world.config(""), &ListOptions::default()).await;
    world.create(&world.configs, "other", json!({"metadata": {"name": "far"}})).await.unwrap();
    world.create_config(json!({"metadata": {"name": "near"}})).await;
    assert_eq!(events(&mut here).await, ["ADDED near"]);
}
