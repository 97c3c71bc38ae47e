//! An etcd that is restored from a backup while servers use it: they notice, say so, and mix nothing.

use std::{fs, process::Command};

use super::{proxy::Proxy, *};

/// Stops a member, and keeps what it has.
fn back_up(member: &mut Member) {
    member.kill();
    let copied = Command::new("cp").arg("-r").args([member.dir().join("data"), member.dir().join("backup")]).status();
    assert!(copied.is_ok_and(|status| status.success()), "the data are copied");
    member.restart();
}

/// Stops a member, and starts it with what it had.
fn restore(member: &mut Member) {
    member.kill();
    fs::remove_dir_all(member.dir().join("data")).expect("the data are removed");
    fs::rename(member.dir().join("backup"), member.dir().join("data")).expect("the backup is there");
    member.restart();
}

/// Waits until a store reports that etcd was restored, and checks that it uses etcd no more.
fn is_noticed(store: &Etcd) {
    let reason = || store.health().refuses_writes.filter(|reason| reason.contains("restored"));
    until("it is reported", || reason().is_some());
    assert!(reason().is_some_and(|reason| reason.contains("restart the servers")));
    let confirmed = block_on(store.confirm().expect("others write"));
    assert!(matches!(&confirmed, Err(ReadError::Engine(why)) if why.contains("restored")), "{confirmed:?}");
    let refused = commit(store, vec![op("/things/a", Some("100"))]);
    assert!(
        matches!(&refused, Err(CommitError::Refused { message, .. }) if message.contains("restored")),
        "{refused:?}"
    );
    assert!(store.get("/registry/things/a").is_err() && store.range("/registry/").is_err());
}

#[test]
fn a_revision_that_goes_back_ends_the_use_of_etcd_until_a_restart() {
    let Some(mut member) = Member::start() else { return };
    let store = open(&member);
    let seen = Seen::of(&store);
    put(&store, "/things/a", "1");
    back_up(&mut member);
    put(&store, "/things/a", "2");
    put(&store, "/things/b", "3");
    restore(&mut member);
    is_noticed(&store);
    let fresh = open(&member);
    put(&fresh, "/things/b", "4");
    assert_eq!(fresh.health().refuses_writes, None, "a server that is restarted has one history");
    assert_eq!(numbers(&seen), [1, 2, 3]);
}

#[test]
fn other_changes_under_the_same_revisions_are_noticed() {
    let Some(mut member) = Member::start() else { return };
    let proxy = Proxy::of(&member.url());
    let store = Etcd::open(EtcdOptions::new([proxy.url()])).expect("etcd is open");
    let seen = Seen::of(&store);
    put(&store, "/things/a", "1");
    proxy.cut();
    back_up(&mut member);
    proxy.mend();
    until("it is connected", || block_on(store.confirm().expect("others write")).is_ok());
    put(&store, "/things/a", "2");
    commit(&store, vec![op("/things/a", None)]).expect("a deletion");
    proxy.cut();
    restore(&mut member);
    let other = open(&member);
    for number in 10..30 {
        put(&other, "/things/b", &number.to_string());
    }
    proxy.mend();
    is_noticed(&store);
    assert_eq!(numbers(&seen), [1, 2]);
}

#[test]
fn a_change_that_is_compacted_ends_no_watch_that_has_it() {
    let Some(mut member) = Member::start() else { return };
    let store = open(&member);
    let seen = Seen::of(&store);
    put(&store, "/things/a", "1");
    put(&store, "/things/a", "2");
    let last = commit(&store, vec![op("/things/a", None)]).expect("a deletion")[0];
    store.compact(last).expect("a compaction");
    member.restart();
    put(&store, "/things/a", "3");
    assert_eq!((numbers(&seen), seen.lock().unwrap().states.len()), (vec![1, 2, 3], 0));
}
