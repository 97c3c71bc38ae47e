//! An open loop shows a stall in the latencies of all operations that were due meanwhile; a closed loop shows one.
use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use axum::{Router, routing::any};

use super::load;
use crate::{
    drive::Load,
    scenario,
    session::{self, Side},
    target::{Access, Http, Target},
};

const STALL: Duration = Duration::from_millis(500);

/// Answers at once, apart from one stall 200 ms after the first request.
async fn stalling() -> SocketAddr {
    let (stalled, first) = (Arc::new(AtomicBool::new(false)), Arc::new(std::sync::OnceLock::new()));
    let answer = move || {
        let (stalled, first) = (stalled.clone(), first.clone());
        async move {
            let since: &Instant = first.get_or_init(Instant::now);
            if since.elapsed() > Duration::from_millis(200) && !stalled.swap(true, Ordering::Relaxed) {
                tokio::time::sleep(STALL).await;
            }
            "{}"
        }
    };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, Router::new().fallback(any(answer))).await });
    address
}

#[test]
fn an_open_loop_counts_those_that_waited_for_a_stall() {
    let runtime = crate::runtime().unwrap();
    let measure = |rate| {
        let url = format!("http://{}", runtime.block_on(stalling()));
        let target = Target::new(&Access { url, ..Access::default() }, Http::One).unwrap();
        let side = Side { label: "A".into(), target, pid: None };
        let load = Load { connections: 1, rate, duration: Duration::from_secs(1), ..load() };
        let get = scenario::named(&["get".to_owned()]).unwrap()[0];
        session::round(&side, get, load, "get".into()).unwrap().measure
    };
    let (closed, open) = (measure(None), measure(Some(200.0)));
    assert_eq!((closed.errors.len(), open.errors.len()), (0, 0));
    // Of 200 operations in a second, 100 were due during the stall and waited up to half a second.
    assert!((195..=201).contains(&(open.count() + open.unsent)), "{} and {}", open.count(), open.unsent);
    assert!(open.latency_ms(0.75) > 100.0, "{}", open.latency_ms(0.75));
    let slow = open.latency.count_between(50_000_000, u64::MAX);
    assert!(slow >= 70, "{slow} operations waited");
    // The closed loop has the stall once, and its p99 does not know of it.
    assert_eq!(closed.latency.count_between(400_000_000, u64::MAX), 1);
    assert!(closed.latency_ms(0.99) < 50.0, "{}", closed.latency_ms(0.99));
}
