//! Members that are killed, stopped or replaced, and compaction while a watch is broken.

use super::{feed::Feed, proxy::Proxy, *};

#[test]
fn a_member_that_is_killed_and_started_again_loses_and_repeats_nothing() {
    let Some(mut member) = Member::start() else { return };
    let store = open(&member);
    let seen = Seen::of(&store);
    for round in 0..3 {
        for number in 0..20 {
            put(&store, "/things/a", &(round * 20 + number).to_string());
        }
        member.restart();
    }
    let last = put(&store, "/things/b", "60");
    until("the sink has all changes", || seen.lock().unwrap().upto >= last);
    assert_eq!(numbers(&seen), (0..=60).collect::<Vec<_>>());
    assert!(seen.lock().unwrap().states.is_empty(), "nothing was compacted");
}

#[test]
fn what_others_write_in_a_break_comes_afterwards_in_order() {
    let Some(member) = Member::start() else { return };
    let proxy = Proxy::of(&member.url());
    let (ours, other) = (Etcd::open(EtcdOptions::new([proxy.url()])).expect("etcd is open"), open(&member));
    let seen = Seen::of(&ours);
    for number in 0..30 {
        match number % 10 {
            3 => proxy.cut(),
            7 => proxy.mend(),
            _ => {}
        }
        put(&other, &format!("/things/{number}"), &number.to_string());
    }
    until("the sink has all changes", || numbers(&seen).len() == 30);
    assert_eq!(numbers(&seen), (0..30).collect::<Vec<_>>());
    assert!(seen.lock().unwrap().states.is_empty(), "nothing was compacted");
}

#[test]
fn history_has_all_changes_up_to_a_state_that_was_read_before_they_came() {
    let Some(member) = Member::start() else { return };
    let (ours, other) = (Arc::new(open(&member)), open(&member));
    // There is a sink, and its changes are late.
    let at = ours.engine.position.attach();
    let first = put(&other, "/things/a", "1");
    let last = put(&other, "/things/b", "2");
    let (_, read_at) = ours.range("/registry/things/").expect("a state");
    assert!(read_at >= last);
    let store = Arc::clone(&ours);
    let reading = thread::spawn(move || store.changes(first, 10));
    thread::sleep(Duration::from_millis(200));
    assert!(!reading.is_finished(), "it waits for the sink");
    ours.threads.spawn(Feed::new(Arc::clone(&ours.engine), Box::new(|_| ()), at).run());
    let changes = reading.join().expect("no panic").expect("changes");
    assert_eq!(changes.iter().map(|change| change.revision).collect::<Vec<_>>(), [last]);
}

#[test]
fn what_was_compacted_in_a_break_comes_as_a_state() {
    let Some(member) = Member::start() else { return };
    let proxy = Proxy::of(&member.url());
    let (ours, other) = (Etcd::open(EtcdOptions::new([proxy.url()])).expect("etcd is open"), open(&member));
    let seen = Seen::of(&ours);
    put(&other, "/things/gone", "1");
    put(&other, "/things/a", "2");
    until("the sink has the first changes", || numbers(&seen) == [1, 2]);
    proxy.cut();
    commit(&other, vec![op("/things/gone", None)]).expect("a deletion");
    let compacted = put(&other, "/things/a", "3");
    other.compact(compacted).expect("a compaction");
    let kept = put(&other, "/things/b", "4");
    proxy.mend();
    until("the sink has the state", || seen.lock().unwrap().states.len() == 1);
    {
        let seen = seen.lock().unwrap();
        let (entries, at) = &seen.states[0];
        let found: Vec<_> = entries.iter().map(|entry| (&*entry.key, entry.revision)).collect();
        assert_eq!(found, [("/registry/things/a", compacted), ("/registry/things/b", kept)]);
        assert!(*at >= kept);
    }
    put(&ours, "/things/c", "5");
    assert_eq!(numbers(&seen), [1, 2, 5], "the changes in between are lost, and those after it come");
    let lost = ours.changes(Revision(1), 10);
    assert!(matches!(lost, Err(ReadError::Compacted(upto)) if upto == compacted), "{lost:?}");
    assert_eq!(ours.changes(compacted, 10).expect("changes").len(), 2);
}

#[test]
fn a_member_that_stands_still_is_noticed_and_serves_again_afterwards() {
    let Some(member) = Member::start() else { return };
    let store = open(&member);
    let seen = Seen::of(&store);
    put(&store, "/things/a", "1");
    member.stop();
    let stopped = Instant::now();
    let lost = block_on(store.commit(vec![op("/things/a", Some("2"))].into()));
    assert!(matches!(lost, Err(CommitError::Unknown(_))), "it was sent, and may have happened: {lost:?}");
    assert!(stopped.elapsed() < Duration::from_secs(4), "{:?}", stopped.elapsed());
    until("it is reported", || store.health().refuses_writes.is_some());
    thread::sleep(Duration::from_secs(3).saturating_sub(stopped.elapsed()));
    member.resume();
    let serves = Instant::now();
    let last = put(&store, "/things/a", "3");
    assert!(serves.elapsed() < Duration::from_secs(5), "{:?}", serves.elapsed());
    until("the sink has all changes", || seen.lock().unwrap().upto >= last);
    let found = numbers(&seen);
    assert!(found == [1, 3] || found == [1, 2, 3], "{found:?}");
    until("all is well", || store.health().refuses_writes.is_none());
}

#[test]
fn a_dead_endpoint_among_others_is_passed_over() {
    let Some(member) = Member::start() else { return };
    let dead = Proxy::of(&member.url());
    dead.cut();
    let store = Etcd::open(EtcdOptions::new([dead.url(), member.url()])).expect("etcd is open");
    put(&store, "/things/a", "1");
    let error = Etcd::open(EtcdOptions::new([dead.url()])).err().expect("no member serves");
    assert!(matches!(&error, EtcdError::Unreachable(message) if message.contains(&dead.url())), "{error}");
}
