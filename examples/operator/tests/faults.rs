//! Each fault, met by the controller of this package, which survives it, and by one that does not.
//!
//! The second kind of test shows what the faults are worth: a fault that no controller fails by finds no mistake.
use std::time::Duration;

use kindsmith::{
    server::{Fault, FaultBuilder, Faults},
    testing::Cluster,
};
use kube::api::ListParams;

#[path = "support/fragile.rs"]
mod fragile;
mod support;

use support::{CONTROLLER, Running, cluster, create, databases, jobs, migrated, soon, stays_undone, until_migrated};

/// Runs the controller of this package, which must migrate a database once.
async fn survives(cluster: &Cluster) {
    let _controller = Running::start(cluster, operator::controller::run);
    create(cluster, "a").await;
    until_migrated(cluster, "a").await;
    assert_eq!(jobs(cluster).await, 1, "it was migrated once");
}

#[tokio::test]
async fn a_conflict_is_tried_again() {
    let cluster = cluster().await;
    let conflict = cluster.faults().conflict().on("patch", "databases.example.com/status").by(CONTROLLER).times(3);
    survives(&cluster).await;
    assert_eq!(conflict.count(), 3);
}

#[tokio::test]
async fn a_conflict_that_is_ignored_loses_the_update() {
    let cluster = cluster().await;
    let path = "/apis/example.com/v1/namespaces/*/databases/*/status";
    let conflict = cluster.faults().conflict().on("PUT", path).once();
    let _controller = Running::start(&cluster, fragile::ignores_conflicts);
    create(&cluster, "a").await;
    soon(conflict.met(1)).await;
    stays_undone(&cluster, "a").await;
    create(&cluster, "b").await;
    until_migrated(&cluster, "b").await;
    assert_eq!((migrated(&cluster, "a").await, conflict.count()), (None, 1), "only the fault keeps it from working");
}

#[tokio::test]
async fn a_lost_answer_creates_nothing_twice() {
    let cluster = cluster().await;
    let lost = cluster.faults().connection_reset().carried_out().on("create", "jobs.batch").once();
    survives(&cluster).await;
    assert_eq!(lost.count(), 1);
}

#[tokio::test]
async fn a_lost_answer_that_is_taken_for_a_failure_creates_twice() {
    let cluster = cluster().await;
    let lost =
        cluster.faults().connection_reset().carried_out().on("POST", "/apis/batch/v1/namespaces/default/jobs").once();
    let _controller = Running::start(&cluster, fragile::creates_again);
    create(&cluster, "a").await;
    until_migrated(&cluster, "a").await;
    assert_eq!((jobs(&cluster).await, lost.count()), (2, 1), "the data was migrated twice");
    create(&cluster, "b").await;
    until_migrated(&cluster, "b").await;
    assert_eq!(jobs(&cluster).await, 3, "without the fault it creates one");
}

#[tokio::test]
async fn a_timeout_after_the_write_is_tried_again() {
    let cluster = cluster().await;
    let timeout = cluster.faults().timeout().carried_out().on("create", "jobs.batch").once();
    survives(&cluster).await;
    assert_eq!(timeout.count(), 1);
}

#[tokio::test]
async fn a_timeout_after_the_write_stops_who_does_not_know_its_own_work() {
    let cluster = cluster().await;
    let timeout = cluster.faults().timeout().carried_out().on("create", "jobs.batch").once();
    let _controller = Running::start(&cluster, fragile::stumbles_over_its_own);
    create(&cluster, "a").await;
    soon(timeout.met(1)).await;
    stays_undone(&cluster, "a").await;
    assert_eq!(jobs(&cluster).await, 1, "the write has happened");
    create(&cluster, "b").await;
    until_migrated(&cluster, "b").await;
}

#[tokio::test]
async fn a_refusal_is_tried_again() {
    let cluster = cluster().await;
    let refused =
        cluster.faults().too_many_requests(Duration::from_secs(1)).on("*", "deployments.apps").by(CONTROLLER).times(2);
    let unavailable = cluster.faults().unavailable().on("create", "jobs.batch").once();
    survives(&cluster).await;
    assert!(refused.count() == 2 && unavailable.count() == 1);
}

#[tokio::test]
async fn a_refusal_that_is_taken_for_final_leaves_an_object_undone() {
    let cluster = cluster().await;
    let refused = cluster.faults().too_many_requests(Duration::from_secs(1)).on("patch", "deployments.apps").once();
    let _controller = Running::start(&cluster, fragile::gives_up);
    create(&cluster, "a").await;
    soon(refused.met(1)).await;
    stays_undone(&cluster, "a").await;
    create(&cluster, "b").await;
    until_migrated(&cluster, "b").await;
}

#[tokio::test]
async fn a_slow_answer_is_waited_for() {
    let cluster = cluster().await;
    let slow = cluster.faults().slow(Duration::from_millis(500)).on("create", "jobs.batch").once();
    survives(&cluster).await;
    assert_eq!(slow.count(), 1);
}

#[tokio::test]
async fn a_slow_answer_that_is_not_waited_for_leaves_an_object_undone() {
    let cluster = cluster().await;
    let slow = cluster.faults().slow(Duration::from_mins(1)).on("create", "jobs.batch").once();
    let _controller = Running::start(&cluster, fragile::waits_too_briefly);
    create(&cluster, "a").await;
    soon(slow.met(1)).await;
    stays_undone(&cluster, "a").await;
}

/// A fault without effect, which is met when the controller watches.
fn begins_to_watch(cluster: &Cluster) -> Fault {
    cluster.faults().slow(Duration::ZERO).on("watch", "databases.example.com").by(CONTROLLER).once()
}

#[tokio::test]
async fn a_watch_that_is_cut_begins_again() {
    let cluster = cluster().await;
    let cut = cluster
        .faults()
        .cut_watches()
        .on("watch", "/apis/example.com/v1/databases")
        .after_events(1)
        .by(CONTROLLER)
        .times(2);
    let _controller = Running::start(&cluster, operator::controller::run);
    for name in ["a", "b", "c"] {
        create(&cluster, name).await;
        until_migrated(&cluster, name).await;
    }
    assert_eq!((cut.count(), jobs(&cluster).await), (2, 3));
}

/// A controller that watches once works until it meets a fault, and then has ended.
async fn ends_a_controller_that_watches_once(fault: fn(&Faults) -> FaultBuilder) {
    let cluster = cluster().await;
    let begun = begins_to_watch(&cluster);
    let controller = Running::start(&cluster, fragile::watches_once);
    soon(begun.met(1)).await;
    create(&cluster, "a").await;
    until_migrated(&cluster, "a").await;
    let fault = fault(cluster.faults()).by(CONTROLLER).once();
    soon(fault.met(1)).await;
    create(&cluster, "b").await;
    stays_undone(&cluster, "b").await;
    assert!(controller.has_ended());
}

#[tokio::test]
async fn a_watch_that_is_cut_ends_a_controller_that_watches_once() {
    ends_a_controller_that_watches_once(Faults::cut_watches).await;
}

#[tokio::test]
async fn an_expired_watch_lists_again() {
    let cluster = cluster().await;
    let _controller = Running::start(&cluster, operator::controller::run);
    create(&cluster, "a").await;
    until_migrated(&cluster, "a").await;
    let gone = cluster.faults().gone().on("watch", "databases.example.com").by(CONTROLLER).once();
    let expired = cluster.faults().expire_watches().on("watch", "databases.example.com").by(CONTROLLER).once();
    soon(expired.met(1)).await;
    soon(gone.met(1)).await;
    create(&cluster, "b").await;
    until_migrated(&cluster, "b").await;
}

#[tokio::test]
async fn an_expired_watch_ends_a_controller_that_watches_once() {
    ends_a_controller_that_watches_once(Faults::expire_watches).await;
}

/// While the watch is interrupted, the server compacts its history.
async fn after_a_long_interruption(cluster: &Cluster) {
    create(cluster, "a").await;
    until_migrated(cluster, "a").await;
    let faults = cluster.faults();
    let outage = faults.unavailable().on("*", "databases.example.com").by(CONTROLLER).always();
    let cut = faults.cut_watches().on("watch", "databases.example.com").by(CONTROLLER).once();
    soon(cut.met(1)).await;
    create(cluster, "b").await;
    let list = databases(cluster).list(&ListParams::default()).await.expect("a list");
    let newest = list.metadata.resource_version.expect("a list has a revision");
    let compacted = faults.gone().on("watch", "databases.example.com").before(&newest).always();
    outage.remove();
    soon(compacted.met(1)).await;
}

#[tokio::test]
async fn a_controller_that_lists_again_survives_a_long_interruption() {
    let cluster = cluster().await;
    let _controller = Running::start(&cluster, operator::controller::run);
    after_a_long_interruption(&cluster).await;
    until_migrated(&cluster, "b").await;
}

#[tokio::test]
async fn a_controller_that_never_lists_again_stands_still_after_a_long_interruption() {
    let cluster = cluster().await;
    let begun = begins_to_watch(&cluster);
    let controller = Running::start(&cluster, fragile::never_lists_again);
    soon(begun.met(1)).await;
    after_a_long_interruption(&cluster).await;
    stays_undone(&cluster, "b").await;
    assert!(!controller.has_ended(), "it still watches, in vain");
}
