//! Tests of the engine on members of etcd. Without etcd they say that they did not run; in CI they fail.

mod access;
mod agrees;
mod breaks;
mod fake;
mod limits;
#[allow(dead_code, unreachable_pub, reason = "tests of other packages include it, too")]
#[path = "../../../../../tests/support/etcd.rs"]
pub(crate) mod member;
mod prefix;
mod proxy;
mod rate;
mod restored;
mod serving;
mod several;
mod staged_prefix;
mod tokens;

use std::{
    sync::{Arc, Mutex},
    thread,
    time::{Duration, Instant},
};

use bytes::Bytes;

use self::member::Member;
use super::*;
use crate::{Delivery, Expect, Op, Previous, suite::commit};

/// The time in which what must happen soon happens, on a loaded machine.
const SOON: Duration = Duration::from_secs(20);

fn open(member: &Member) -> Etcd {
    Etcd::open(EtcdOptions::new([member.url()])).expect("etcd is open")
}

fn op(key: &str, value: Option<&str>) -> Op {
    let value = value.map(|value| Bytes::copy_from_slice(value.as_bytes()));
    Op { key: format!("/registry{key}").into(), value, expect: Expect::Any, lifetime: None }
}

fn put(store: &Etcd, key: &str, value: &str) -> Revision {
    commit(store, vec![op(key, Some(value))]).expect("a write")[0]
}

/// Adds the user `ann` with the password `pass` for the prefix `/shop`, and makes etcd ask for users.
fn enable_users(member: &Member) {
    for command in [
        "user add root:secret",
        "user grant-role root root",
        "role add shop",
        "role grant-permission shop readwrite --prefix=true /shop/",
        "user add ann:pass",
        "user grant-role ann shop",
        "auth enable",
    ] {
        member.control(&command.split(' ').collect::<Vec<_>>());
    }
}

/// Waits until something is true.
fn until(what: &str, mut is_true: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_true() {
        assert!(start.elapsed() < SOON, "not within {SOON:?}: {what}");
        thread::sleep(Duration::from_millis(5));
    }
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime").block_on(future)
}

/// What a sink got.
#[derive(Default)]
struct Seen {
    changes: Vec<Change>,
    states: Vec<(Vec<Entry>, Revision)>,
    upto: Revision,
}

impl Seen {
    /// Attaches a sink that checks the order of what it gets.
    fn of(store: &Etcd) -> Arc<Mutex<Self>> {
        let seen = Arc::new(Mutex::new(Self::default()));
        let into = Arc::clone(&seen);
        store.attach(Box::new(move |delivery| {
            let mut seen = into.lock().unwrap();
            match delivery {
                Delivery::Changes(changes, upto) => {
                    assert!(upto > seen.upto, "{upto} after {}", seen.upto);
                    assert!(changes.iter().all(|change| change.revision > seen.upto && change.revision <= upto));
                    assert!(changes.is_sorted_by_key(|change| change.revision));
                    seen.changes.extend_from_slice(changes);
                    seen.upto = upto;
                }
                Delivery::State(entries, at) => {
                    assert!(at >= seen.upto);
                    seen.states.push((entries.to_vec(), at));
                    seen.upto = at;
                }
            }
        }));
        seen
    }
}

/// The numbers that puts of numbers wrote, in the order in which a sink got them.
fn numbers(seen: &Mutex<Seen>) -> Vec<usize> {
    let text = |change: &Change| String::from_utf8(change.value.clone()?.to_vec()).ok()?.parse().ok();
    seen.lock().unwrap().changes.iter().filter_map(text).collect()
}
