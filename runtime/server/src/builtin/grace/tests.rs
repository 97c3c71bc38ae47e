//! Ends of grace periods with paused time: deadlines, restarts, and clock changes.
use std::sync::{
    Arc,
    atomic::{AtomicI64, Ordering},
};

use serde_json::{Value, json};
use tokio::{
    task::JoinHandle,
    time::{Instant, sleep},
};

use super::{super::tests::Inside, *};
use crate::{
    Resource,
    builtin::ConfigMap,
    kind::{
        Kind,
        binding::NoHooks,
        model::{Grace, Names},
    },
    meta::{GroupResource, options::WriteOptions},
    storage::Memory,
};

/// A server with a kind that has a grace period of 30 seconds, and its controller, whose clock follows paused time.
struct Rig {
    inside: Inside,
    ahead: Arc<AtomicI64>,
    stop: signal::Sender<bool>,
    task: JoinHandle<()>,
}

fn slow(grace: Option<Grace>) -> Kind {
    ConfigMap::kind().with(|shared, _, binding| {
        shared.names = Names::new("Slow", "slows");
        shared.grace = grace;
        binding.hooks = Arc::new(NoHooks);
    })
}

impl Rig {
    async fn new() -> Self {
        Self::over(Arc::new(Memory::new()), Some(Grace::Seconds(30)), Time::now()).await
    }

    async fn over(store: Arc<Memory>, grace: Option<Grace>, start: Time) -> Self {
        let inside = Inside::over(store).await;
        inside.api.registry.register([slow(grace)]).expect("a kind");
        let (begun, ahead) = (Instant::now(), Arc::new(AtomicI64::new(0)));
        let set = ahead.clone();
        let clock: Clock = Arc::new(move || {
            let elapsed = i64::try_from(begun.elapsed().as_secs()).expect("a short test");
            start.plus_seconds(elapsed + set.load(Ordering::Relaxed))
        });
        let (stop, stopping) = signal::channel(false);
        let task = tokio::spawn(run(inside.api.clone(), clock, stopping));
        Self { inside, ahead, stop, task }
    }

    async fn deleted(&self, name: &str, finalizers: Value, grace: Option<i64>) {
        let body = json!({"metadata": {"name": name, "finalizers": finalizers}});
        self.inside.create("slows", "default", body).await.expect("a new object");
        let options = DeleteOptions { grace_period_seconds: grace, ..DeleteOptions::default() };
        self.inside.api.delete(&self.at(name), &options).await.expect("a deletion");
    }

    fn at(&self, name: &str) -> Request {
        self.inside.request("slows", "default", name)
    }

    fn find(&self, name: &str) -> Option<Value> {
        self.inside.find("slows", "default", name)
    }

    async fn stop(self) {
        self.stop.send_replace(true);
        self.task.await.expect("the controller ends");
    }
}

async fn seconds(count: u64) {
    sleep(Duration::from_secs(count)).await;
}

#[tokio::test(start_paused = true)]
async fn an_object_is_removed_at_its_deadline_and_not_before() {
    let rig = Rig::new().await;
    rig.deleted("a", json!([]), None).await;
    rig.deleted("b", json!([]), Some(5)).await;
    rig.deleted("far", json!([]), Some(i64::MAX)).await;
    seconds(3).await;
    assert!(rig.find("a").is_some() && rig.find("b").is_some());
    seconds(5).await;
    assert!(rig.find("a").is_some() && rig.find("b").is_none());
    seconds(30).await;
    assert!(rig.find("a").is_none() && rig.find("far").is_some());
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_deadline_that_is_moved_forward_applies() {
    let rig = Rig::new().await;
    rig.deleted("a", json!([]), None).await;
    seconds(2).await;
    let shorter = DeleteOptions { grace_period_seconds: Some(6), ..DeleteOptions::default() };
    rig.inside.api.delete(&rig.at("a"), &shorter).await.expect("a shorter grace");
    seconds(2).await;
    assert!(rig.find("a").is_some());
    seconds(6).await;
    assert!(rig.find("a").is_none());
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn finalizers_hold_an_object_past_its_deadline() {
    let rig = Rig::new().await;
    rig.deleted("a", json!(["example.com/x"]), Some(2)).await;
    seconds(5).await;
    let held = rig.find("a").expect("a finalizer holds it");
    assert_eq!(held["metadata"]["deletionGracePeriodSeconds"], 0, "its grace period is over: {held}");
    let head = rig.inside.api.cache.revision();
    seconds(60).await;
    assert_eq!(rig.inside.api.cache.revision(), head, "the controller has no more work");
    rig.inside.merge(&rig.at("a"), json!({"metadata": {"finalizers": null}})).await.expect("the finalizer is removed");
    assert!(rig.find("a").is_none());
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn deadlines_survive_a_restart_and_a_change_of_the_kind_s_grace() {
    let start = Time::now();
    for grace in [Some(Grace::Seconds(30)), None] {
        let store = Arc::new(Memory::new());
        let rig = Rig::over(store.clone(), Some(Grace::Seconds(30)), start).await;
        rig.deleted("a", json!([]), None).await;
        rig.deleted("b", json!([]), Some(90)).await;
        rig.stop().await;
        let rig = Rig::over(store, grace, start.plus_seconds(60)).await;
        seconds(2).await;
        assert!(rig.find("a").is_none(), "its deadline passed meanwhile");
        let changed = rig.inside.merge(&rig.at("b"), json!({"data": {"k": "v"}})).await.expect("a change");
        assert!(changed["metadata"]["deletionTimestamp"].is_string());
        seconds(40).await;
        assert!(rig.find("b").is_none());
        rig.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn clock_changes_are_noticed() {
    let rig = Rig::new().await;
    rig.deleted("a", json!([]), Some(3_000)).await;
    rig.deleted("b", json!([]), Some(20)).await;
    rig.ahead.store(-1_000, Ordering::Relaxed);
    seconds(60).await;
    assert!(rig.find("b").is_some(), "by the clock its deadline is in the future");
    rig.ahead.store(0, Ordering::Relaxed);
    seconds(2).await;
    assert!(rig.find("b").is_none() && rig.find("a").is_some());
    rig.ahead.store(4_000, Ordering::Relaxed);
    seconds(2).await;
    assert!(rig.find("a").is_none());
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_recreated_object_is_left_alone() {
    let rig = Rig::new().await;
    rig.deleted("a", json!([]), Some(5)).await;
    let now = DeleteOptions { grace_period_seconds: Some(0), ..DeleteOptions::default() };
    rig.inside.api.delete(&rig.at("a"), &now).await.expect("its end");
    let body = json!({"metadata": {"name": "a"}});
    rig.inside.api.create(&rig.at(""), body, &WriteOptions::default()).await.expect("another one");
    seconds(60).await;
    assert!(rig.find("a").is_some());
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn many_objects_end_at_once() {
    let rig = Rig::new().await;
    for number in 0..500 {
        rig.deleted(&format!("n{number}"), json!([]), Some(10)).await;
    }
    seconds(15).await;
    assert_eq!(rig.at("").resource.objects.snapshot().count("", None), 0);
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_replaced_resource_is_still_followed_and_a_removed_one_is_dropped() {
    let rig = Rig::new().await;
    rig.deleted("a", json!([]), None).await;
    seconds(10).await;
    rig.inside.api.registry.replace([slow(Some(Grace::Seconds(30)))], None).expect("a kind");
    rig.deleted("b", json!([]), None).await;
    seconds(15).await;
    assert!(rig.find("a").is_some() && rig.find("b").is_some());
    // Deadlines use the real clock, which stands still, so both are due at the same time.
    seconds(8).await;
    assert!(rig.find("a").is_none() && rig.find("b").is_none());
    rig.deleted("c", json!([]), None).await;
    let slows = GroupResource { group: String::new(), resource: "slows".to_owned() };
    let slows = rig.inside.api.registry.resource(&slows).expect("it is served");
    assert!(rig.inside.api.registry.remove(&slows));
    seconds(40).await;
    rig.inside.api.registry.replace([slow(Some(Grace::Seconds(30)))], None).expect("a kind");
    seconds(3).await;
    assert!(rig.find("c").is_none(), "overdue objects are removed once the resource is served again");
    rig.stop().await;
}
