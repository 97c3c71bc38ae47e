//! etcd's limits: the size of a request, the quota of the database, and how long history is kept.

use super::*;

#[test]
fn a_value_that_etcd_does_not_take_is_refused_and_harms_nothing() {
    let Some(member) = Member::start() else { return };
    let store = open(&member);
    // A little above etcd's limit, and above that of its gRPC server.
    for size in [1_600_000, 4_000_000] {
        let refused = commit(&store, vec![op("/things/a", Some(&"v".repeat(size)))]);
        let Err(CommitError::TooLarge(message)) = refused else { panic!("expected a refusal, got {refused:?}") };
        assert!(message.contains("--max-request-bytes"), "{message}");
    }
    assert_eq!(store.get("/registry/things/a").expect("a read"), None);
    let large = "v".repeat(1_500_000);
    put(&store, "/things/a", &large);
    assert_eq!(store.get("/registry/things/a").expect("a read").expect("an entry").value, Ok(Bytes::from(large)));
}

#[test]
fn large_values_come_through_ranges_and_watches() {
    let Some(member) = Member::start() else { return };
    let (store, other) = (open(&member), open(&member));
    let seen = Seen::of(&store);
    let value = "v".repeat(1_400_000);
    for number in 0..8 {
        put(&other, &format!("/things/{number}"), &value);
    }
    until("the sink has all changes", || seen.lock().unwrap().changes.len() == 8);
    assert!(seen.lock().unwrap().changes.iter().all(|change| change.value.as_deref() == Some(value.as_bytes())));
    assert_eq!(store.range("/registry/things/").expect("a range").0.len(), 8);
}

#[test]
fn a_full_database_refuses_writes_until_there_is_room() {
    let Some(member) = Member::start_with("http", &["--quota-backend-bytes", "4194304"]) else { return };
    let store = open(&member);
    let value = "v".repeat(200_000);
    let refused = (0..100).find_map(|_| commit(&store, vec![op("/things/a", Some(&value))]).err()).expect("a refusal");
    assert!(matches!(refused, CommitError::Refused { full: true, .. }), "{refused:?}");
    assert!(store.get("/registry/things/a").expect("reads go on").is_some());
    until("it is reported", || store.health().refuses_writes.is_some_and(|why| why.contains("quota")));

    // A server that starts now can read, too.
    let late = open(&member);
    assert!(late.get("/registry/things/a").expect("reads go on").is_some());

    store.compact(store.head()).expect("a compaction");
    until("there is room", || {
        member.control(&["defrag"]);
        member.control(&["alarm", "disarm"]);
        commit(&store, vec![op("/things/a", Some("1"))]).is_ok()
    });
    until("all is well", || store.health().refuses_writes.is_none());
    put(&late, "/things/a", "2");
}

#[test]
fn history_is_compacted_by_one_of_several_servers() {
    let Some(member) = Member::start() else { return };
    let options = EtcdOptions::new([member.url()]).history_age(Duration::from_secs(1));
    let stores = [0, 1, 2].map(|_| Etcd::open(options.clone()).expect("etcd is open"));
    let first = put(&stores[0], "/things/a", "1");
    until("the first revision is compacted", || stores.iter().all(|store| store.compacted() > first));
    for store in &stores {
        assert!(matches!(store.changes(first, 10), Err(ReadError::Compacted(upto)) if upto > first));
    }
    let start = Instant::now();
    let count = || member.control(&["get", "compact_rev_key", "-w", "json"]);
    let version = |json: &str| -> u64 {
        let digits = json.split("\"version\":").nth(1).expect("the key's version");
        digits
            .split(|next: char| !next.is_ascii_digit())
            .next()
            .and_then(|digits| digits.parse().ok())
            .expect("a number")
    };
    let before = version(&count());
    thread::sleep(Duration::from_secs(3));
    let (compactions, seconds) = (version(&count()) - before, start.elapsed().as_secs());
    assert!(
        compactions >= 1 && compactions <= seconds + 1,
        "{compactions} compactions in {seconds} s by three servers"
    );
}

#[test]
fn a_server_without_an_interval_leaves_compaction_to_others() {
    let Some(member) = Member::start() else { return };
    let store = Etcd::open(EtcdOptions::new([member.url()]).history_age(Duration::ZERO)).expect("etcd is open");
    put(&store, "/things/a", "1");
    thread::sleep(Duration::from_millis(100));
    assert_eq!(member.control(&["get", "compact_rev_key"]), "");
    assert_eq!(store.compacted(), Revision(0));
}
