//! Several engines on one prefix.

use super::*;

#[test]
fn each_engine_sees_the_changes_of_the_others_in_order() {
    let Some(member) = Member::start() else { return };
    let stores = [open(&member), open(&member)];
    let seen = stores.each_ref().map(Seen::of);
    let mut revisions = Vec::new();
    for number in 0..40 {
        revisions.push(put(&stores[number % 2], &format!("/things/{}", number % 3), &number.to_string()));
    }
    assert!(revisions.is_sorted_by(|a, b| a < b));
    for seen in &seen {
        until("both sinks have all changes", || numbers(seen).len() == 40);
        assert_eq!(numbers(seen), (0..40).collect::<Vec<_>>());
        let seen = seen.lock().unwrap();
        assert!(seen.changes.iter().map(|change| change.revision).eq(revisions.iter().copied()));
        let creates = seen.changes.iter().map(|change| change.previous == Previous::Absent);
        assert!(creates.eq((0..40).map(|number| number < 3)));
    }
    for store in &stores {
        let changes = store.changes(Revision(revisions[0].0 - 1), 40).expect("changes");
        let replaced = changes.iter().map(|change| match &change.previous {
            Previous::Value(revision, Ok(value)) => Some((*revision, value.clone())),
            _ => None,
        });
        let before = |number: usize| number.checked_sub(3).map(|before| (revisions[before], before.to_string().into()));
        assert!(replaced.eq((0..40).map(before)));
    }
}

#[test]
fn a_confirmed_revision_is_reached_although_no_key_of_ours_has_changed() {
    let Some(member) = Member::start() else { return };
    let ours = open(&member);
    let theirs = Etcd::open(EtcdOptions::new([member.url()]).prefix("/elsewhere")).expect("etcd is open");
    let seen = Seen::of(&ours);
    for number in 0..5 {
        let written = put(&theirs, "/things/a", &number.to_string());
        let confirmed = block_on(ours.confirm().expect("other processes write")).expect("a revision");
        assert!(confirmed >= written, "{confirmed} is older than {written}");
        until("the sink reaches it", || seen.lock().unwrap().upto >= confirmed);
    }
    assert!(seen.lock().unwrap().changes.is_empty(), "keys of another prefix and markers are not delivered");
    assert_eq!(ours.range("").expect("a range").0, []);
}

#[test]
fn all_who_wait_for_a_confirmation_share_few_reads() {
    let Some(member) = Member::start() else { return };
    let (ours, theirs) = (open(&member), open(&member));
    let _seen = Seen::of(&ours);
    let written = put(&theirs, "/things/a", "1");
    let waiting: Vec<_> = (0..100).map(|_| ours.confirm().expect("other processes write")).collect();
    block_on(async {
        for confirmed in waiting {
            assert!(confirmed.await.expect("a revision") >= written);
        }
    });
}

#[test]
fn the_prefix_replaces_that_of_the_callers() {
    let Some(member) = Member::start() else { return };
    let store = Etcd::open(EtcdOptions::new([member.url()]).prefix("/shop/")).expect("etcd is open");
    let revision = put(&store, "/things/a", "1");
    let (first, end) = (Bytes::from_static(b"/"), Bytes::from_static(b"0"));
    let request = proto::RangeRequest { key: first, range_end: end, ..Default::default() };
    let members = Arc::clone(&store.engine.members);
    let found = store.threads.spawn(async move {
        members.call::<proto::RangeResponse>(proto::path::RANGE, &request, members::Again::Always).await
    });
    let found = found.recv().expect("a result").expect("a range").kvs;
    let ours = found.iter().find(|kv| *kv.key == *b"/shop/things/a").expect("the key below the prefix");
    assert_eq!((&*ours.value, proto::revision(ours.mod_revision)), (&b"1"[..], revision));
    assert_eq!(&*store.get("/registry/things/a").expect("a read").expect("an entry").key, "/registry/things/a");
}
