//! Concurrent writers: nothing is lost, nothing is applied twice.
use std::sync::Arc;

use serde_json::json;

use super::fixture::{World, version};
use crate::{
    meta::options::ListOptions,
    verbs::{DeleteResult, Error},
};

const WRITERS: usize = 16;
const TIMES: i64 = 20;

/// Each increment reads the count and makes it a precondition: exactly the acknowledged ones are applied.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_counter_counts_each_acknowledged_increment_once() {
    let world = Arc::new(World::new().await);
    world.create_widget(json!({"metadata": {"name": "w"}, "spec": {"size": 1}})).await;
    let writers: Vec<_> = (0..WRITERS)
        .map(|_| {
            let world = world.clone();
            tokio::spawn(async move {
                let request = world.widget("w");
                for _ in 0..TIMES {
                    loop {
                        let replicas = world.get(&request).await.unwrap()["spec"]["replicas"].as_i64().unwrap();
                        let patch = json!([
                            {"op": "test", "path": "/spec/replicas", "value": replicas},
                            {"op": "replace", "path": "/spec/replicas", "value": replicas + 1},
                        ]);
                        match world.json(&request, patch).await {
                            Ok(_) => break,
                            Err(Error::InapplicablePatch(_)) => {}
                            Err(error) => panic!("{error:?}"),
                        }
                    }
                }
            })
        })
        .collect();
    for writer in writers {
        writer.await.unwrap();
    }
    let count = i64::try_from(WRITERS).unwrap() * TIMES;
    let last = world.get(&world.widget("w")).await.unwrap();
    assert_eq!(last["spec"]["replicas"], 1 + count);
    assert_eq!(last["metadata"]["generation"], 1 + count);
}

/// Patches of different fields do not conflict, and no client has to retry.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn patches_of_different_fields_all_land() {
    let world = Arc::new(World::new().await);
    world.create_config(json!({"metadata": {"name": "a"}})).await;
    let writers: Vec<_> = (0..WRITERS)
        .map(|writer| {
            let world = world.clone();
            tokio::spawn(async move {
                for n in 0..TIMES {
                    let data = json!({"data": {format!("k{writer}"): n.to_string()}});
                    world.merge(&world.config("a"), data).await.unwrap();
                }
            })
        })
        .collect();
    for writer in writers {
        writer.await.unwrap();
    }
    let last = world.get(&world.config("a")).await.unwrap();
    for writer in 0..WRITERS {
        assert_eq!(last["data"][format!("k{writer}")], (TIMES - 1).to_string());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn one_of_many_updates_of_a_version_wins() {
    let world = Arc::new(World::new().await);
    let made = world.create_config(json!({"metadata": {"name": "a"}})).await;
    let writers: Vec<_> = (0..WRITERS)
        .map(|writer| {
            let (world, version) = (world.clone(), version(&made));
            tokio::spawn(async move {
                let meta = json!({"name": "a", "resourceVersion": version});
                let body = json!({"metadata": meta, "data": {"by": writer.to_string()}});
                world.update(&world.config("a"), body).await
            })
        })
        .collect();
    let mut won = Vec::new();
    for writer in writers {
        match writer.await.unwrap() {
            Ok(object) => won.push(object),
            Err(error) => assert!(matches!(error, Error::Conflict(..)), "{error:?}"),
        }
    }
    assert_eq!(won, [world.get(&world.config("a")).await.unwrap()]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn one_of_many_creates_and_one_of_many_deletes_wins() {
    let world = Arc::new(World::new().await);
    for round in 0..20 {
        let name = format!("c-{round}");
        let creates: Vec<_> = (0..WRITERS)
            .map(|_| {
                let (world, body) = (world.clone(), json!({"metadata": {"name": name.clone()}}));
                tokio::spawn(async move { world.create(&world.configs, "ns", body).await.is_ok() })
            })
            .collect();
        let mut made = 0;
        for create in creates {
            made += usize::from(create.await.unwrap());
        }
        let deletes: Vec<_> = (0..WRITERS)
            .map(|_| {
                let (world, name) = (world.clone(), name.clone());
                tokio::spawn(async move {
                    matches!(world.delete(&world.config(&name)).await, Ok(DeleteResult::Gone { .. }))
                })
            })
            .collect();
        let mut gone = 0;
        for delete in deletes {
            gone += usize::from(delete.await.unwrap());
        }
        assert_eq!((made, gone), (1, 1), "round {round}");
    }
}

/// A reader that pages during writes sees one state with a consistent sum.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn pages_read_while_others_write_add_up() {
    let world = Arc::new(World::new().await);
    for n in 0..20 {
        world.create_widget(json!({"metadata": {"name": format!("w-{n:02}")}, "spec": {"size": 1}})).await;
    }
    let writer = {
        let world = world.clone();
        tokio::spawn(async move {
            for step in 2..30 {
                for n in 0..20 {
                    let patch = json!({"spec": {"size": step}});
                    world.merge(&world.widget(&format!("w-{n:02}")), patch).await.unwrap();
                }
            }
        })
    };
    while !writer.is_finished() {
        let mut sizes = Vec::new();
        let mut token = String::new();
        loop {
            let options = ListOptions { limit: 3, continue_token: token, ..ListOptions::default() };
            let list = world.list(&world.widget(""), &options).await;
            sizes.extend(list.items.iter().map(|o| super::fixture::value(o)["spec"]["size"].as_i64().unwrap()));
            tokio::task::yield_now().await;
            match list.continue_token {
                Some(next) => token = next,
                None => break,
            }
        }
        assert_eq!(sizes.len(), 20);
        // The writer changes the objects in order: at any moment the first are at most one step ahead.
        assert!(sizes.is_sorted_by(|a, b| a >= b) && sizes[0] - sizes[19] <= 1, "{sizes:?}");
    }
    writer.await.unwrap();
}
