//! Random owners, random deletions and random stops of the collector, compared with a model.
use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use proptest::{collection::vec, prelude::*, sample::select};
use serde_json::Value;

use super::{
    super::super::{Controllers, tests::Inside},
    config, delete, find, owner, set_owners, settled, until,
};
use crate::{meta::options::Propagation, schema::Document};

/// The number of initial objects.
const OBJECTS: usize = 8;

#[derive(Clone, Debug)]
enum Step {
    Delete(usize, Propagation),
    /// Sets an object's owners, each blocking or not.
    SetOwners(usize, Vec<(usize, bool)>),
    /// Stops the collector, so that the next steps happen unobserved.
    Stop,
    /// Starts a collector and stops it after this many microseconds, then starts another one.
    Restart(u64),
}

fn step() -> impl Strategy<Value = Step> {
    let policies = select(vec![Propagation::Background, Propagation::Foreground, Propagation::Orphan]);
    let owners = vec((0..OBJECTS, any::<bool>()), 0..3);
    prop_oneof![
        3 => (0..OBJECTS, policies).prop_map(|(object, policy)| Step::Delete(object, policy)),
        2 => (0..OBJECTS, owners).prop_map(|(object, owners)| Step::SetOwners(object, owners)),
        1 => Just(Step::Stop),
        1 => (0..800u64).prop_map(Step::Restart),
    ]
}

/// The existing objects and their owners.
type Model = BTreeMap<usize, BTreeSet<usize>>;

/// The final state once all work is done.
fn settle(model: &mut Model) {
    loop {
        let there: BTreeSet<usize> = model.keys().copied().collect();
        let lost: Vec<usize> = model
            .iter()
            .filter(|(_, owners)| !owners.is_empty() && owners.is_disjoint(&there))
            .map(|(object, _)| *object)
            .collect();
        if lost.is_empty() {
            for owners in model.values_mut() {
                owners.retain(|owner| there.contains(owner));
            }
            return;
        }
        for object in lost {
            model.remove(&object);
        }
    }
}

fn name(object: usize) -> String {
    format!("o{object}")
}

/// The store's content as a model.
fn shown(inside: &Inside, made: &[Document]) -> Model {
    let number = |uid: &Value| made.iter().position(|object| object["metadata"]["uid"] == *uid).expect("a known uid");
    let snapshot = inside.request("configmaps", "default", "").resource.objects.snapshot();
    let objects = snapshot.range("default/o", None).map(|object| {
        let object: Document = serde_json::from_slice(object.json_bytes()).expect("JSON");
        let owners = object["metadata"]["ownerReferences"].as_array().cloned().unwrap_or_default();
        let deleted = object["metadata"].get("deletionTimestamp").is_some();
        let owners: BTreeSet<usize> = owners.iter().map(|owner| number(&owner["uid"])).collect();
        (number(&object["metadata"]["uid"]), if deleted { BTreeSet::from([usize::MAX]) } else { owners })
    });
    objects.collect()
}

async fn run(first: Vec<Vec<(usize, bool)>>, steps: Vec<Step>) {
    let inside = Inside::new().await;
    let mut made = Vec::new();
    for object in 0..OBJECTS {
        made.push(config(&inside, &name(object), &[]).await);
    }
    let mut model: Model = (0..OBJECTS).map(|object| (object, BTreeSet::new())).collect();
    let mut controllers = None;
    let begin = first.into_iter().enumerate().map(|(object, owners)| Step::SetOwners(object, owners));
    for step in begin.chain(steps).chain([Step::Restart(0)]) {
        match step {
            Step::Delete(object, policy) if model.contains_key(&object) => {
                delete(&inside, &name(object), policy).await;
                model.remove(&object);
                if policy == Propagation::Orphan {
                    for owners in model.values_mut() {
                        owners.remove(&object);
                    }
                }
            }
            Step::SetOwners(object, owners) if model.contains_key(&object) => {
                let owners: BTreeMap<usize, bool> = owners.into_iter().filter(|(o, _)| model.contains_key(o)).collect();
                let references: Vec<Value> = owners.iter().map(|(o, blocks)| owner(&made[*o], *blocks)).collect();
                set_owners(&inside, &name(object), &references).await;
                model.insert(object, owners.into_keys().collect());
            }
            Step::Stop => {
                if let Some(running) = controllers.take() {
                    Controllers::stop(running).await;
                }
                // Without a settled state, another deletion may meet a state that the model does not have.
                continue;
            }
            Step::Restart(after) => {
                if let Some(running) = controllers.take() {
                    Controllers::stop(running).await;
                }
                let (_keep, stopping) = tokio::sync::watch::channel(false);
                let task = tokio::spawn(super::super::run(inside.api.clone(), stopping));
                tokio::time::sleep(Duration::from_micros(after)).await;
                task.abort();
                let _ = task.await;
            }
            _ => continue,
        }
        let running = controllers.get_or_insert_with(|| Controllers::started(&inside.api));
        settle(&mut model);
        until(&inside, &format!("{model:?}, but {:?}", shown(&inside, &made)), || shown(&inside, &made) == model).await;
        let _ = running;
    }
    settled(&inside).await;
    assert_eq!(shown(&inside, &made), model, "the result is stable");
    if let Some(running) = controllers {
        running.stop().await;
    }
    assert!(find(&inside, "zz-settled-0").is_none());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn the_collector_keeps_what_the_model_keeps(
        first in vec(vec((0..OBJECTS, any::<bool>()), 0..3), OBJECTS),
        steps in vec(step(), 1..8),
    ) {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        runtime.block_on(run(first, steps));
    }
}
