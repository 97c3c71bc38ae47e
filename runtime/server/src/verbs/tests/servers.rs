//! Two servers over one store, one of which is behind the other.
use std::{sync::Arc, time::Duration};

use serde_json::json;

use super::fixture::{World, applier, at, below, dry_run, names, selecting, version};
use crate::{
    cache::Limits,
    meta::{
        Revision,
        options::{DeleteOptions, GetOptions, ListOptions, PatchOptions, WriteOptions},
    },
    storage::several::{Lag, Server, Several},
    verbs::{DeleteResult, Error},
};

/// A server that is up to date, and one that is behind it.
struct Two {
    first: World,
    second: World,
    /// The handle of the second.
    behind: Arc<Server>,
}

impl Two {
    async fn new(lag: Lag) -> Self {
        let several = Several::new();
        let first = World::on(several.memory().clone(), several.server(Lag::None), Limits::default()).await;
        let behind = several.server(Lag::None);
        let second = World::on(several.memory().clone(), behind.clone(), Limits::default()).await;
        behind.set_lag(lag);
        Self { first, second, behind }
    }
}

fn any_state() -> GetOptions {
    GetOptions { resource_version: Some(Revision(0)) }
}

#[tokio::test]
async fn a_read_without_a_version_has_everything_that_another_server_acknowledged() {
    let Two { first, second, behind } = Two::new(Lag::UntilAsked).await;
    first.create_config(json!({"metadata": {"name": "a"}})).await;
    assert!(second.api.get(&second.config("a"), &any_state()).await.is_err(), "it is behind");
    let anything = ListOptions { resource_version: Some(Revision(0)), ..ListOptions::default() };
    assert_eq!(names(&second.list(&second.config(""), &anything).await), [""; 0]);
    assert_eq!(second.api.watch(&second.config(""), &anything).await.unwrap().initial.len(), 0);
    assert_eq!(behind.asked(), 0, "any state will do");

    assert_eq!(second.get(&second.config("a")).await.unwrap()["metadata"]["name"], "a");
    assert_eq!(behind.asked(), 1);
    first.create_config(json!({"metadata": {"name": "b"}})).await;
    assert_eq!(names(&second.list(&second.config(""), &ListOptions::default()).await), ["a", "b"]);
    first.delete(&first.config("a")).await.unwrap();
    let watch_result = second.api.watch(&second.config(""), &ListOptions::default()).await.unwrap();
    assert_eq!(watch_result.initial.iter().map(|object| object.name().to_owned()).collect::<Vec<_>>(), ["b"]);
}

#[tokio::test]
async fn a_read_not_older_than_a_version_waits_for_it() {
    let Two { first, second, .. } = Two::new(Lag::For(Duration::from_millis(30))).await;
    let made = first.create_config(json!({"metadata": {"name": "a"}})).await;
    let asked = Some(version(&made).parse().unwrap());
    let seen = second.api.get(&second.config("a"), &GetOptions { resource_version: asked }).await;
    assert!(seen.is_ok(), "{seen:?}");
    first.create_config(json!({"metadata": {"name": "b"}})).await;
    let exact = ListOptions { resource_version: asked, limit: 5, ..ListOptions::default() };
    assert_eq!(names(&second.list(&second.config(""), &exact).await), ["a"]);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_is_cut_off_answers_no_read_that_needs_the_newest_state() {
    let Two { first, second, behind } = Two::new(Lag::CutOff).await;
    first.create_config(json!({"metadata": {"name": "a"}})).await;
    let late = second.api.get(&second.config("a"), &GetOptions::default()).await;
    assert!(matches!(late, Err(Error::TooLargeRevision { .. })), "{late:?}");
    behind.set_failing(true);
    let failed = second.api.list(&second.config(""), &ListOptions::default()).await.map(drop);
    assert!(matches!(failed, Err(Error::Timeout(_))), "{failed:?}");
    assert!(
        second
            .list(&second.config(""), &ListOptions { resource_version: Some(Revision(0)), ..ListOptions::default() })
            .await
            .items
            .is_empty()
    );
}

#[tokio::test]
async fn a_server_that_cannot_read_the_past_at_present_says_when_to_try_again() {
    let several = Several::new();
    let first = World::on(several.memory().clone(), several.server(Lag::None), Limits::default()).await;
    let made = first.create_config(json!({"metadata": {"name": "a"}})).await;
    first.merge(&first.config("a"), json!({"data": {"k": "1"}})).await.unwrap();
    let handle = several.server(Lag::None);
    let second = World::on(several.memory().clone(), handle.clone(), Limits::default()).await;
    let from = ListOptions { resource_version: Some(version(&made).parse().unwrap()), ..ListOptions::default() };
    let exact = ListOptions { limit: 5, ..from.clone() };
    handle.set_failing(true);
    let watched = second.api.watch(&second.config(""), &from).await.map(drop);
    let listed = second.api.list(&second.config(""), &exact).await.map(drop);
    for answer in [watched, listed] {
        assert!(matches!(answer, Err(Error::Timeout(_))), "{answer:?}");
    }
    handle.set_failing(false);
    let mut watch_result = second.api.watch(&second.config(""), &from).await.expect("the past can be read again");
    assert_eq!(watch_result.watch.next().await.unwrap().unwrap().event_type.as_str(), "MODIFIED");
}

#[tokio::test]
async fn a_list_is_continued_on_another_server_at_its_revision() {
    let Two { first, second, .. } = Two::new(Lag::UntilAsked).await;
    for name in ["a", "b", "c"] {
        first.create_config(json!({"metadata": {"name": name}})).await;
    }
    let page = ListOptions { limit: 2, ..ListOptions::default() };
    let begun = first.list(&first.config(""), &page).await;
    first.create_config(json!({"metadata": {"name": "bb"}})).await;
    first.delete(&first.config("c")).await.unwrap();
    let rest = ListOptions { continue_token: begun.continue_token.clone().unwrap(), ..page };
    let rest = second.list(&second.config(""), &rest).await;
    assert_eq!((names(&begun), names(&rest)), (vec!["a".into(), "b".into()], vec!["c".into()]));
    assert_eq!(rest.revision, begun.revision);
}

#[tokio::test]
async fn a_watch_moves_to_another_server_by_its_revision() {
    let Two { first, second, behind } = Two::new(Lag::UntilAsked).await;
    let made = first.create_config(json!({"metadata": {"name": "a"}})).await;
    first.merge(&first.config("a"), json!({"data": {"k": "1"}})).await.unwrap();
    let from = ListOptions { resource_version: Some(version(&made).parse().unwrap()), ..ListOptions::default() };
    let mut watch_result = second.api.watch(&second.config(""), &from).await.unwrap();
    first.delete(&first.config("a")).await.unwrap();
    behind.set_lag(Lag::None);
    for expected in ["MODIFIED", "DELETED"] {
        let event = watch_result.watch.next().await.unwrap().unwrap();
        assert_eq!(event.event_type.as_str(), expected);
    }
}

#[tokio::test]
async fn writes_over_an_outdated_cache_are_made_again() {
    let Two { first, second, behind } = Two::new(Lag::UntilAsked).await;
    let made = first.create_config(json!({"metadata": {"name": "a"}})).await;
    let patched = second.merge(&second.config("a"), json!({"data": {"k": "1"}})).await.unwrap();
    assert_eq!(patched["data"]["k"], "1", "an object that only the other server has seen");

    let newest = first.merge(&first.config("a"), json!({"data": {"l": "2"}})).await.unwrap();
    let body = json!({"metadata": {"name": "a", "resourceVersion": version(&newest)}, "data": {"m": "3"}});
    second.update(&second.config("a"), body).await.expect("the newest version is given");
    let body = json!({"metadata": {"name": "a", "resourceVersion": version(&made)}, "data": {"n": "4"}});
    assert!(matches!(second.update(&second.config("a"), body).await, Err(Error::Conflict(..))));

    first.create_config(json!({"metadata": {"name": "b", "uid": ""}})).await;
    let config = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "b"}, "data": {"k": "1"}});
    second.apply(&second.config("b"), "m", config).await.unwrap();
    first.create_config(json!({"metadata": {"name": "c"}})).await;
    assert!(matches!(second.delete(&second.config("c")).await, Ok(DeleteResult::Gone { .. })));
    assert!(matches!(second.delete(&second.config("c")).await, Err(Error::NotFound(..))));
    let asked = behind.asked();
    second.merge(&second.config("b"), json!({"data": {"z": "1"}})).await.unwrap();
    assert_eq!(behind.asked(), asked, "what succeeds needs no question");
}

#[tokio::test]
async fn subresources_collections_and_dry_runs_too_see_what_another_server_wrote() {
    let Two { first, second, .. } = Two::new(Lag::UntilAsked).await;
    first.create_widget(json!({"metadata": {"name": "w"}, "spec": {"size": 1, "replicas": 1}})).await;
    let scale = second.merge(&below(second.widget("w"), "scale"), json!({"spec": {"replicas": 3}})).await.unwrap();
    assert_eq!(scale["spec"]["replicas"], 3);
    first.create_widget(json!({"metadata": {"name": "x"}, "spec": {"size": 1}})).await;
    second.merge(&below(second.widget("x"), "status"), json!({"status": {}})).await.unwrap();

    first.create_config(json!({"metadata": {"name": "a", "labels": {"app": "x"}}})).await;
    let tried = second.api.update(&second.config("a"), json!({"metadata": {"name": "a"}}), &dry_run()).await;
    assert!(tried.is_ok(), "{tried:?}");
    let all = (selecting("app=x", ""), DeleteOptions::default());
    assert_eq!(second.api.delete_collection(&second.config(""), &all.0, &all.1).await.unwrap().items.len(), 1);
    first.create_config(json!({"metadata": {"name": "a"}})).await;
    let again = second.api.create(&at(&second.configs, "ns", ""), json!({"metadata": {"name": "a"}}), &dry_run()).await;
    assert!(matches!(again, Err(Error::AlreadyExists(..))), "{again:?}");
}

#[tokio::test]
async fn a_write_that_changes_nothing_in_an_outdated_cache_is_made_over_the_newest_state() {
    let Two { first, second, .. } = Two::new(Lag::UntilAsked).await;
    second.create_config(json!({"metadata": {"name": "a"}, "data": {"k": "1"}})).await;
    let changed = json!({"data": {"k": "2"}});
    for write in 0..3 {
        first.merge(&first.config("a"), changed.clone()).await.unwrap();
        let body = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"k": "1"}});
        match write {
            0 => second.merge(&second.config("a"), body).await.map(drop).unwrap(),
            1 => second.update(&second.config("a"), body).await.map(drop).unwrap(),
            _ => second
                .apply_with(&second.config("a"), body, &PatchOptions { force: true, ..applier("m") })
                .await
                .map(drop)
                .unwrap(),
        }
        assert_eq!(first.get(&first.config("a")).await.unwrap()["data"]["k"], "1", "write {write}");
    }
    let apply =
        |value: &str| json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"k": value}});
    let forced = PatchOptions { force: true, ..applier("m") };
    first.apply_with(&first.config("a"), apply("2"), &forced).await.unwrap();
    second.apply_with(&second.config("a"), apply("1"), &forced).await.unwrap();
    assert_eq!(first.get(&first.config("a")).await.unwrap()["data"]["k"], "1");
}

#[tokio::test]
async fn objects_are_created_in_a_namespace_that_another_server_has_just_made() {
    let Two { first, second, .. } = Two::new(Lag::UntilAsked).await;
    first.create(&first.namespaces, "", json!({"metadata": {"name": "fresh"}})).await.unwrap();
    second.create(&second.configs, "fresh", json!({"metadata": {"name": "a"}})).await.unwrap();
    first.delete(&at(&first.namespaces, "", "fresh")).await.unwrap();
    let refused = second.create(&second.configs, "fresh", json!({"metadata": {"name": "b"}})).await;
    assert!(matches!(refused, Err(Error::Forbidden { .. })), "{refused:?}");
}

#[tokio::test]
async fn a_write_with_an_unknown_outcome_is_not_made_again() {
    let Two { second, behind, .. } = Two::new(Lag::None).await;
    behind.set_failing(true);
    let body = json!({"metadata": {"name": "a"}});
    let made = second.api.create(&at(&second.configs, "ns", ""), body, &WriteOptions::default()).await;
    assert!(matches!(made, Err(Error::Unknowable(_))), "{made:?}");
    assert_eq!(behind.asked(), 0);
}

/// Both count in one object, each over a cache that is behind the other's.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_increment_of_two_servers_is_lost() {
    let several = Several::new();
    let mut worlds = Vec::new();
    for _ in 0..2 {
        let server = several.server(Lag::For(Duration::from_millis(1)));
        worlds.push(Arc::new(World::on(several.memory().clone(), server, Limits::default()).await));
    }
    worlds[0].create_widget(json!({"metadata": {"name": "w"}, "spec": {"size": 1}})).await;
    let before = worlds[1].get(&worlds[1].widget("w")).await.unwrap()["spec"]["replicas"].as_i64().unwrap();
    let counting = worlds.iter().cloned().map(|world| {
        tokio::spawn(async move {
            for _ in 0..20 {
                loop {
                    let newest = world.get(&world.widget("w")).await.unwrap();
                    let replicas = newest["spec"]["replicas"].as_i64().unwrap() + 1;
                    let meta = json!({"resourceVersion": version(&newest)});
                    match world
                        .merge(&world.widget("w"), json!({"metadata": meta, "spec": {"replicas": replicas}}))
                        .await
                    {
                        Ok(_) => break,
                        Err(Error::Conflict(..)) => {}
                        Err(error) => panic!("{error:?}"),
                    }
                }
            }
        })
    });
    for counter in counting.collect::<Vec<_>>() {
        counter.await.unwrap();
    }
    for world in worlds {
        assert_eq!(world.get(&world.widget("w")).await.unwrap()["spec"]["replicas"], before + 40);
    }
}
