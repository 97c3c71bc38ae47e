//! A prefix that a tool has opened.

use super::*;
use crate::{
    embedded::tools::{ChangesError, Edit, Error},
    etcd::tools::prefix::Prefix,
};

fn opened(member: &Member) -> Prefix {
    Prefix::open(&EtcdOptions::new([member.url()])).expect("a prefix")
}

/// The changes after a revision: keys, and what became of them.
fn changes(prefix: &Prefix, after: Revision) -> (Vec<(String, Option<Bytes>)>, Revision) {
    let mut found = Vec::new();
    let mut take = |Edit { key, value, .. }: Edit| {
        found.push((key.to_string(), value));
        Ok(())
    };
    let Ok(head) = prefix.changes(after, &mut take) else { panic!("no changes") };
    (found, head)
}

#[test]
fn a_state_is_read_at_one_revision_while_keys_change() {
    let Some(member) = Member::start() else { return };
    let store = open(&member);
    for number in 0..1_200 {
        put(&store, &format!("/things/{number:04}"), &number.to_string());
    }
    let prefix = opened(&member);
    let mut state = prefix.state(None).expect("a state");
    assert_eq!(state.count, 1_201, "with the engine's own key");
    let first = state.objects.next().expect("an object").expect("it is read");
    assert_eq!(&*first.key, "/registry/things/0000");
    put(&store, "/things/1199", "later");
    put(&store, "/things/1200", "later");
    commit(&store, vec![op("/things/0900", None)]).expect("a deletion");
    let rest: Vec<_> = state.objects.map(|object| object.expect("it is read")).collect();
    assert_eq!(rest.len(), 1_199);
    assert!(rest.iter().all(|object| object.revision <= state.head && object.deadline_ms.is_none()));
    assert_eq!(rest.last().expect("an object").value, Ok(Bytes::from_static(b"1199")));
    let after = prefix.state(Some("/registry/things/1198")).expect("a state");
    let after: Vec<_> = after.objects.map(|object| object.expect("it is read").key.to_string()).collect();
    assert_eq!(after, ["/registry/things/1199", "/registry/things/1200"]);
}

#[test]
fn a_state_that_is_compacted_while_it_is_read_is_an_error() {
    let Some(member) = Member::start() else { return };
    let store = open(&member);
    let value = "x".repeat(20_000);
    for number in 0..1_500 {
        put(&store, &format!("/things/{number:04}"), &value);
    }
    let mut state = opened(&member).state(None).expect("a state");
    assert!(state.objects.next().is_some_and(|object| object.is_ok()));
    let head = put(&store, "/things/0000", "later");
    store.compact(head).expect("a compaction");
    let read: Result<Vec<_>, Error> = state.objects.collect();
    let error = read.expect_err("the pages are gone").to_string();
    assert!(error.contains("compacts its history faster than it can be read"), "{error}");
}

#[test]
fn changes_come_up_to_the_newest_revision_whatever_changed_last() {
    let Some(member) = Member::start() else { return };
    let store = open(&member);
    let begin = put(&store, "/things/a", "1");
    put(&store, "/things/b", "2");
    commit(&store, vec![op("/things/a", None)]).expect("a deletion");
    let prefix = opened(&member);
    let all = vec![
        ("/registry/things/b".to_owned(), Some(Bytes::from_static(b"2"))),
        ("/registry/things/a".to_owned(), None),
    ];
    assert_eq!(changes(&prefix, begin).0, all);
    member.control(&["put", "/elsewhere", "1"]);
    member.control(&["put", "/elsewhere", "2"]);
    let (found, head) = changes(&prefix, begin);
    assert_eq!((found, head), (all, Revision(begin.0 + 4)));
    assert_eq!(changes(&prefix, head), (Vec::new(), head));
    // Many changes come in several messages.
    for number in 0..2_500 {
        put(&store, "/things/a", &number.to_string());
    }
    assert_eq!(changes(&prefix, head).0.len(), 2_500);
    store.compact(Revision(head.0 + 100)).expect("a compaction");
    assert!(matches!(prefix.changes(begin, &mut |_| Ok(())), Err(ChangesError::Lost)));
}

#[test]
fn a_key_that_is_no_text_is_named() {
    let Some(member) = Member::start() else { return };
    let status = std::process::Command::new("sh")
        .args([
            "-c",
            "ETCDCTL_API=3 exec etcdctl --endpoints=\"$0\" put \"$(printf '/registry/a\\377')\" 1",
            &member.url(),
        ])
        .stdout(std::process::Stdio::null())
        .status();
    assert!(status.is_ok_and(|status| status.success()));
    let state = opened(&member).state(None).expect("a state");
    let read: Result<Vec<_>, Error> = state.objects.collect();
    let error = read.expect_err("it cannot be copied").to_string();
    assert!(error.contains("the key /registry/a\\xff is not UTF-8"), "{error}");
}
