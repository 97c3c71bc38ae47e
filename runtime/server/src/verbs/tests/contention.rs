//! Many writers of one object, each with another kind of write: none is lost or must be retried by the client, and
//! watchers get each change exactly once and in order.
use std::{collections::BTreeMap, sync::Arc, time::Duration};

use serde_json::{Value, json};

use super::fixture::{World, applier, below, owners, shown, version};
use crate::{
    cache::{Event, EventType},
    meta::options::{ListOptions, PatchOptions, WriteOptions},
    verbs::{Error, Patch, WatchResult},
};

const WRITERS: usize = 40;
const TIMES: usize = 8;

/// How a writer sets its key of an object's data.
#[derive(Clone, Copy)]
enum Means {
    Merge,
    Strategic,
    Json,
    Apply,
    /// Reads and updates until there is no conflict.
    Update,
}

const MEANS: [Means; 5] = [Means::Merge, Means::Strategic, Means::Json, Means::Apply, Means::Update];

async fn set(world: &World, means: Means, key: &str, value: &str) -> Result<Value, Error> {
    let (request, manager) = (world.config("hot"), format!("by-{key}"));
    let write = |name: &str| WriteOptions { field_manager: name.to_owned(), ..WriteOptions::default() };
    let merge = json!({"data": {key: value}}).to_string();
    let (patch, options) = match means {
        // Few managers: the entries of many updaters would be merged into one.
        Means::Merge => (Patch::Merge(merge.into()), PatchOptions { write: write("merger"), force: false }),
        Means::Strategic => (Patch::Strategic(merge.into()), PatchOptions { write: write("strategist"), force: false }),
        Means::Json => {
            let patch = json!([{"op": "add", "path": format!("/data/{key}"), "value": value}]);
            (Patch::Json(patch.to_string().into()), PatchOptions { write: write("jason"), force: false })
        }
        Means::Apply => {
            let config =
                json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "hot"}, "data": {key: value}});
            (Patch::Apply(config.into()), applier(&manager))
        }
        Means::Update => loop {
            let mut object = world.get(&request).await?;
            object["data"][key] = json!(value);
            match world.api.update(&request, object, &write("updater")).await {
                Err(Error::Conflict(..)) => {}
                done => return done.map(shown),
            }
        },
    };
    world.api.patch(&request, patch, &options).await.map(shown)
}

/// The watched events up to a revision: the revisions, and the state at each.
async fn watched(mut watch_result: WatchResult, upto: u64) -> Vec<(u64, Value)> {
    let mut seen = Vec::new();
    while seen.last().is_none_or(|(revision, _)| *revision < upto) {
        let event = tokio::time::timeout(Duration::from_secs(20), watch_result.watch.next()).await.expect("an event");
        let Event { event_type, object } = event.expect("the watch goes on").expect("nothing is missed");
        assert_eq!(event_type, EventType::Modified, "the object is only changed");
        seen.push((object.revision().0, super::fixture::value(&object)));
    }
    seen
}

fn number(object: &Value) -> u64 {
    version(object).parse().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn all_kinds_of_writers_lose_nothing_and_are_watched_once() {
    let world = Arc::new(World::new().await);
    let made = world.create_config(json!({"metadata": {"name": "hot"}, "data": {"first": "x"}})).await;
    let options = ListOptions { resource_version: version(&made).parse().ok(), ..ListOptions::default() };
    let watch_result = world.api.watch(&world.config(""), &options).await.unwrap();
    let writers: Vec<_> = (0..WRITERS)
        .map(|writer| {
            let (world, means, key) = (world.clone(), MEANS[writer % MEANS.len()], format!("k{writer}"));
            tokio::spawn(async move {
                let mut acknowledged = Vec::new();
                for n in 0..TIMES {
                    let object = set(&world, means, &key, &n.to_string()).await.unwrap();
                    assert_eq!(object["data"][&key], n.to_string());
                    acknowledged.push((number(&object), object));
                    // A repeated write changes nothing, whatever else has changed: it must not appear.
                    set(&world, means, &key, &n.to_string()).await.unwrap();
                }
                acknowledged
            })
        })
        .collect();
    let mut acknowledged = BTreeMap::new();
    for writer in writers {
        for (revision, object) in writer.await.unwrap() {
            assert!(acknowledged.insert(revision, object).is_none(), "two writes got {revision}");
        }
    }
    let last = *acknowledged.keys().next_back().unwrap();
    let seen = watched(watch_result, last).await;
    assert!(seen.is_sorted_by(|a, b| a.0 < b.0), "in order");
    assert_eq!(seen, acknowledged.into_iter().collect::<Vec<_>>(), "each change, once, as it was acknowledged");

    let object = world.get(&world.config("hot")).await.unwrap();
    assert_eq!((number(&object), object["data"].as_object().unwrap().len()), (last, WRITERS + 1));
    let owners: BTreeMap<String, Value> = owners(&object).into_iter().collect();
    for writer in 0..WRITERS {
        let key = format!("k{writer}");
        assert_eq!(object["data"][&key], (TIMES - 1).to_string());
        let owner = match MEANS[writer % MEANS.len()] {
            Means::Merge => "merger Update".to_owned(),
            Means::Strategic => "strategist Update".to_owned(),
            Means::Json => "jason Update".to_owned(),
            Means::Apply => format!("by-{key} Apply"),
            Means::Update => "updater Update".to_owned(),
        };
        for (who, fields) in &owners {
            let owned = fields["f:data"].get(format!("f:{key}")).is_some();
            assert_eq!(owned, *who == owner, "{key} and {who}");
        }
    }
}

/// Writers of the spec, the status and the scale change only their own fields.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn writers_of_different_subresources_keep_apart() {
    let world = Arc::new(World::new().await);
    world.create_widget(json!({"metadata": {"name": "w"}, "spec": {"size": 1}})).await;
    let patch = |subresource, n: usize| match subresource {
        "status" => json!({"spec": {"size": 999}, "status": {"phase": n.to_string()}}),
        "scale" => json!({"spec": {"replicas": n + 2}}),
        _ => json!({"spec": {"size": n + 2}, "status": {"phase": "no"}}),
    };
    let writers = ["", "status", "scale"].map(|subresource| {
        let world = world.clone();
        tokio::spawn(async move {
            let request = below(world.widget("w"), subresource);
            for n in 0..WRITERS {
                world.merge(&request, patch(subresource, n)).await.unwrap();
            }
        })
    });
    for writer in writers {
        writer.await.unwrap();
    }
    let last = world.get(&world.widget("w")).await.unwrap();
    let count = i64::try_from(WRITERS).unwrap();
    assert_eq!((&last["spec"]["size"], &last["spec"]["replicas"]), (&json!(count + 1), &json!(count + 1)));
    assert_eq!(last["status"]["phase"], (count - 1).to_string());
    assert_eq!(last["metadata"]["generation"], 1 + 2 * count, "each change of the spec, and none of the status");
}

/// Two appliers that take a field from each other by force: it always has one owner, whose value it has.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_field_that_is_fought_over_has_one_owner() {
    let world = Arc::new(World::new().await);
    let made = world.create_config(json!({"metadata": {"name": "hot"}, "data": {"first": "x"}})).await;
    let options = ListOptions { resource_version: version(&made).parse().ok(), ..ListOptions::default() };
    let watch_result = world.api.watch(&world.config(""), &options).await.unwrap();
    let fighters = ["one", "two"].map(|name| {
        let world = world.clone();
        tokio::spawn(async move {
            let config =
                json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "hot"}, "data": {"k": name}});
            let options = PatchOptions { force: true, ..applier(name) };
            for _ in 0..WRITERS {
                world.apply_with(&world.config("hot"), config.clone(), &options).await.unwrap();
            }
        })
    });
    for fighter in fighters {
        fighter.await.unwrap();
    }
    let last = world.get(&world.config("hot")).await.unwrap();
    for (_, state) in watched(watch_result, number(&last)).await {
        let who = state["data"]["k"].as_str().unwrap();
        let owned: Vec<_> =
            owners(&state).into_iter().filter(|(_, fields)| fields["f:data"].get("f:k").is_some()).collect();
        assert_eq!(owned.len(), 1, "{state}");
        assert_eq!(owned[0].0, format!("{who} Apply"));
    }
}
