//! Which members are used.

use std::{
    net::TcpListener,
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
};

use prost::Message;
use tokio::task::JoinSet;

use super::{
    fake::{Answer, Call, Fake, status, well},
    fault::Fault,
    leases::Leases,
    members::{Again, texts},
    *,
};

fn members(urls: &[String]) -> Arc<Members> {
    Arc::new(Members::new(EtcdOptions::new(urls)).expect("valid options"))
}

/// Waits until something is true, while the tasks of the test go on.
async fn until(what: &str, mut is_true: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_true() {
        assert!(start.elapsed() < SOON, "not within {SOON:?}: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[test]
fn a_member_that_refuses_to_give_its_status_is_asked_in_another_way() {
    const FORBIDDEN: Answer = Err((7, "etcdserver: permission denied"));
    for may_read in [true, false] {
        let (leads, refused) = (Arc::new(AtomicBool::new(true)), Arc::new(AtomicUsize::new(0)));
        let (leading, counted) = (Arc::clone(&leads), Arc::clone(&refused));
        let fake = Fake::start(move |call: &Call| match &*call.path {
            proto::path::STATUS => {
                counted.fetch_add(1, Ordering::Relaxed);
                FORBIDDEN
            }
            _ if !leading.load(Ordering::Relaxed) => Err((14, "etcdserver: no leader")),
            _ if may_read => well(call),
            _ => FORBIDDEN,
        });
        block_on(async {
            let members = members(&[fake.url()]);
            let session = members.session().await.map_err(|failed| texts(&failed)).expect("it serves");
            assert!(session.reports_progress);
            until("two heartbeats are over", || refused.load(Ordering::Relaxed) > 3).await;
            assert!(!session.connection.is_closed());
            leads.store(false, Ordering::Relaxed);
            until("it is left without a leader", || session.connection.is_closed()).await;
            assert!(members.session().await.is_err());
            until("it is reported", || members.refusal().is_some()).await;
            leads.store(true, Ordering::Relaxed);
            assert!(members.session().await.is_ok());
            assert_eq!(members.refusal(), None);
        });
    }
}

#[test]
fn a_learner_is_passed_over_and_left() {
    let learns = Arc::new(AtomicBool::new(true));
    let learning = Arc::clone(&learns);
    let learner = Fake::start(move |call: &Call| match &*call.path {
        proto::path::STATUS => {
            Ok(proto::StatusResponse { is_learner: learning.load(Ordering::Relaxed), ..status() }.encode_to_vec())
        }
        _ => well(call),
    });
    let other = Fake::start(well);
    block_on(async {
        let alone = members(&[learner.url()]);
        let failed = alone.session().await.err().expect("it does not serve");
        assert!(texts(&failed).contains("is a learner"), "{}", texts(&failed));
        // One of both is tried first, by chance.
        for _ in 0..8 {
            assert!(members(&[learner.url(), other.url()]).session().await.is_ok());
        }
        learns.store(false, Ordering::Relaxed);
        let session = alone.session().await.map_err(|failed| texts(&failed)).expect("it serves");
        learns.store(true, Ordering::Relaxed);
        until("it is left", || session.connection.is_closed()).await;
    });
}

#[test]
fn all_calls_end_in_time_while_members_are_silent() {
    // They take connections, and do not answer.
    let silent = [(); 3].map(|()| TcpListener::bind("127.0.0.1:0").expect("a free port"));
    let urls = silent.each_ref().map(|member| format!("http://{}", member.local_addr().expect("its address")));
    block_on(async {
        let (members, leases, start) = (members(&urls), Arc::new(Leases::default()), Instant::now());
        let mut calls = JoinSet::new();
        for number in 0..20 {
            let (members, leases) = (Arc::clone(&members), Arc::clone(&leases));
            calls.spawn(async move {
                if number % 2 == 0 {
                    return leases.lease(&members, 3_660).await.map(drop);
                }
                let request = proto::RangeRequest::default();
                members.call::<proto::RangeResponse>(proto::path::RANGE, &request, Again::Always).await.map(drop)
            });
        }
        while let Some(ended) = calls.join_next().await {
            let fault = ended.expect("no panic").expect_err("no member serves");
            assert!(matches!(&fault, Fault::Unsent(why) if why.contains("none within 2s")), "{fault}");
        }
        assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
    });
}
