//! Storage migration until no object is stored in an old version.
use std::sync::Arc;

use serde_json::json;

use super::{
    fixture::{World, at},
    versions::{gears, older, stored},
};
use crate::{registry::ResourceEntry, storage::migration::Migration, verbs::Error};

const GEARS: usize = 150;
const ALL: u64 = GEARS as u64;

/// Gears stored in the older version by a server that is replaced by one with another storage version; among them one
/// that cannot be converted, and one that is already in the right form.
async fn taken_over() -> (World, Arc<ResourceEntry>) {
    let world = World::new().await;
    let before = world.api.registry.register([older().with(|_, _, binding| binding.conversion = None)]).unwrap();
    for number in 0..GEARS {
        let body = json!({"metadata": {"name": format!("g{number:03}")}, "cogs": 40});
        world.create(&before, "ns", body).await.unwrap();
    }
    world.create(&before, "ns", json!({"metadata": {"name": "odd"}, "cogs": 31})).await.unwrap();
    let then = World::over(world.store.clone()).await;
    let [gears, _] = gears(&then);
    then.create(&gears, "ns", json!({"metadata": {"name": "new"}})).await.unwrap();
    (then, gears)
}

/// The names of the gears that are not stored in their current form.
fn old(gears: &ResourceEntry) -> Vec<String> {
    let snapshot = gears.objects.snapshot();
    snapshot.range("", None).filter(|gear| gear.is_renewed()).map(|gear| gear.name().to_owned()).collect()
}

#[tokio::test]
async fn every_object_is_rewritten_once_and_failures_are_named() {
    let (world, gears) = taken_over().await;
    let before = world.get(&at(&gears, "ns", "g007")).await.unwrap();
    let mut reports: Vec<Migration> = Vec::new();
    let done = world.api.migrate(&gears, |migration| reports.push(migration.clone())).await.unwrap();
    let odd = vec![("ns/odd".to_owned(), "31 is too many".to_owned())];
    let expected = Migration {
        resource: "gears.example.com".to_owned(),
        seen: ALL + 2,
        rewritten: ALL,
        skipped: 1,
        reasons: odd,
        left: 0,
    };
    assert_eq!((&done, reports.last()), (&expected, Some(&expected)));
    assert!(reports.len() > 2 && reports.is_sorted_by_key(|report| (report.seen, report.rewritten)));
    assert_eq!(old(&gears), [""; 0]);

    let mut after = world.get(&at(&gears, "ns", "g007")).await.unwrap();
    assert_ne!(after["metadata"]["resourceVersion"], before["metadata"]["resourceVersion"]);
    after["metadata"]["resourceVersion"] = before["metadata"]["resourceVersion"].clone();
    assert_eq!(after, before, "nothing else has changed");
    let again = world.api.migrate(&gears, |_| {}).await.unwrap();
    assert_eq!((again.seen, again.rewritten, again.skipped), (ALL + 2, 0, 1));

    let without = World::over(world.store.clone()).await;
    let gears = without.api.registry.register([stored()]).unwrap();
    assert_eq!(without.get(&at(&gears, "ns", "g007")).await.unwrap()["spec"]["teeth"], 40, "the older version may go");
}

#[tokio::test]
async fn a_migration_that_was_dropped_is_finished_by_the_next() {
    let (world, gears) = taken_over().await;
    let (tell, mut reported) = tokio::sync::mpsc::unbounded_channel();
    let first = tokio::select! {
        biased;
        first = reported.recv() => first.unwrap(),
        done = world.api.migrate(&gears, |migration| tell.send(migration.rewritten).unwrap()) => panic!("{done:?}"),
    };
    let done = world.api.migrate(&gears, |_| {}).await.unwrap();
    assert_eq!((first + done.rewritten, done.seen, done.skipped), (ALL, ALL + 2, 1));
    assert_eq!(old(&gears), [""; 0]);
}

#[tokio::test]
async fn a_store_that_refuses_writes_ends_a_migration_before_any_report() {
    let (world, gears) = taken_over().await;
    world.api.store.close();
    let mut reports = 0;
    let refused = world.api.migrate(&gears, |_| reports += 1).await;
    assert!(matches!(refused, Err(Error::Unavailable(_))), "{refused:?}");
    assert_eq!((reports, old(&gears).len()), (0, GEARS));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_writers_and_a_migration_lose_nothing() {
    let (world, gears) = taken_over().await;
    let write = |from: usize| {
        let (world, gears) = (&world, &gears);
        async move {
            for number in (from..GEARS).step_by(2).rev() {
                let request = at(gears, "ns", &format!("g{number:03}"));
                if number % 5 == 0 {
                    world.delete(&request).await.unwrap();
                } else {
                    world.merge(&request, json!({"spec": {"color": "red"}})).await.unwrap();
                }
            }
        }
    };
    let (done, (), ()) = tokio::join!(world.api.migrate(&gears, |_| {}), write(0), write(1));
    assert_eq!(done.unwrap().skipped, 1);
    assert_eq!(old(&gears), [""; 0]);
    for number in 0..GEARS {
        let found = world.get(&at(&gears, "ns", &format!("g{number:03}"))).await;
        assert_eq!(found.is_ok(), number % 5 != 0);
        if let Ok(found) = found {
            assert_eq!(found["spec"], json!({"color": "red", "metal": "Zinc", "teeth": 40}));
        }
    }
}
