//! etcd as the target.

use super::*;

#[test]
fn a_store_is_copied_to_etcd_and_back() {
    let mut random = Random::from_environment();
    let Some(sample) = Sample::new(&mut random, 0) else { return };
    let (embedded, host) =
        (sample::store(&mut random, 300, 1 << 20), sample.member.url().replace("http://", "etcd://"));
    let (one, two) = (PathBuf::from(format!("{host}/one")), PathBuf::from(format!("{host}/two")));
    let [file, back] = ["a.backup", "back"].map(|name| sample.beside(name));
    let count = embedded.newest().len();
    let (out, err) = expect(0, &[path("copy"), &embedded.dir(), &one]);
    assert!(out.contains(&format!("  {count} objects have new resourceVersions")) && err.is_empty(), "{out}{err}");
    expect(0, &[path("backup"), &embedded.dir(), path("--to"), &file]);
    let (out, _) = expect(0, &[path("restore"), &file, path("--to"), &two]);
    assert!(out.contains("verified"), "{out}");
    expect(0, &[path("copy"), &two, &back]);
    for place in [&one, &two, &back, &file] {
        let (out, _) = expect(0, &[path("check"), place, path("--against"), &embedded.dir()]);
        assert!(out.contains("both hold the same objects"), "{out}");
    }
    // A server of that prefix has all objects, and each its own revision.
    let server = Etcd::open(EtcdOptions::new([sample.member.url()]).prefix("/one")).unwrap();
    let (entries, head) = server.range("").unwrap();
    let found: Vec<_> = entries.iter().map(|e| (e.key.to_string(), e.value.clone().unwrap())).collect();
    let expected: Vec<_> = embedded.newest().into_iter().map(|(key, (_, value))| (key, value)).collect();
    assert!(found == expected, "the objects differ");
    let mut revisions: Vec<_> = entries.iter().map(|entry| entry.revision).collect();
    revisions.sort_unstable();
    assert!(revisions.windows(2).all(|pair| pair[0] < pair[1]) && *revisions.last().unwrap() <= head);
    drop(server);
    // It is a store now, and no target.
    let (_, err) = expect(2, &[path("copy"), &embedded.dir(), &one]);
    assert!(err.contains("keys below /one, and they are not of an unfinished copy"), "{err}");
    let (_, err) = expect(2, &[path("copy"), &one, &one.join("below")]);
    assert!(err.contains("has keys in common with"), "{err}");
    // A key that only one of them has is named.
    sample.member.control(&["put", "/one/widgets/default/other", "{}"]);
    let (out, _) = expect(1, &[path("check"), &one, path("--against"), &back]);
    assert!(out.contains("different /registry/widgets/default/other\n"), "{out}");
}

#[test]
fn a_copy_to_etcd_is_killed_twice_and_resumed() {
    let mut random = Random::from_environment();
    let Some(sample) = Sample::new(&mut random, 0) else { return };
    let embedded = sample::store(&mut random, 0, 64 << 20);
    let store = Arc::new(Embedded::open(embedded.dir(), Options::default()).unwrap());
    for first in (0..6_000).step_by(1_000) {
        let ops =
            (first..first + 1_000).map(|number| put(&format!("books/default/book-{number:05}"), &"x".repeat(600)));
        block_on(store.commit(Commit::from(ops.collect::<Vec<_>>()))).unwrap();
    }
    let mut short = put("events/default/short", "{}");
    short.lifetime = Some(Duration::from_mins(15));
    block_on(store.commit(vec![short].into())).unwrap();
    let done = Arc::new(AtomicBool::new(false));
    let (writes, ends, mut numbers) = (Arc::clone(&store), Arc::clone(&done), random.fork());
    let thread = thread::spawn(move || {
        while !ends.load(Ordering::Relaxed) {
            let mut op = sample::op(&mut numbers);
            op.key = format!("/registry/books/default/book-{:05}", numbers.below(6_500)).into();
            let _ = block_on(writes.commit(vec![op].into()));
            thread::sleep(Duration::from_millis(2));
        }
    });
    let writers = Writers { threads: vec![thread], done };
    let count = || {
        let keys = sample.member.control(&["get", "--prefix", "/shop/", "--keys-only", "--limit=3000"]);
        keys.lines().filter(|line| !line.is_empty()).count()
    };
    let target = PathBuf::from(format!("{}/shop", sample.member.url().replace("http://", "etcd://")));
    let mut killed = 0;
    for enough in [500, 2_500] {
        killed += usize::from(kill(start(&[&embedded.dir(), &target]), || count() >= enough, Duration::ZERO));
    }
    assert!(killed > 0, "each copy was done before it was killed");
    // Until it is complete, it is no store.
    let refused = Etcd::open(EtcdOptions::new([sample.member.url()]).prefix("/shop")).err().unwrap().to_string();
    assert!(refused.contains("a copy to /shop is not complete"), "{refused}");
    let (_, err) = expect(2, &[path("copy"), &target, &sample.beside("no")]);
    assert!(err.contains("is the target of an unfinished copy"), "{err}");
    let other = sample::store(&mut random, 20, 1 << 20);
    let (_, err) = expect(2, &[path("copy"), &other.dir(), &target]);
    assert!(err.contains("unfinished copy of") && err.contains("all keys below /shop/"), "{err}");

    let (out, _) = expect(0, &[path("copy"), &embedded.dir(), &target]);
    assert!(out.contains("begun by an earlier run") && out.contains("verified"), "{out}");
    drop(writers);
    drop(store);
    let leases = sample.member.control(&["lease", "list"]);
    assert_eq!(leases.lines().count(), 2, "the event has a lease: {leases}");
    let server = Etcd::open(EtcdOptions::new([sample.member.url()]).prefix("/shop")).unwrap();
    let copied = server.range("").unwrap().0;
    assert!(copied.len() > 5_000 && copied.iter().any(|entry| &*entry.key == "/registry/events/default/short"));
}

#[test]
fn values_that_have_expired_in_a_stopped_store_are_not_copied() {
    let mut random = Random::from_environment();
    let Some(sample) = Sample::new(&mut random, 0) else { return };
    let embedded = sample::store(&mut random, 20, 1 << 20);
    let store = Embedded::open(embedded.dir(), Options::default()).unwrap();
    let lives = |name, lifetime| Op { lifetime: Some(lifetime), ..put(name, "{}") };
    let short = Duration::from_millis(300);
    block_on(store.commit(vec![lives("events/default/short", short)].into())).unwrap();
    block_on(store.commit(vec![lives("events/default/long", Duration::from_hours(1))].into())).unwrap();
    drop(store);
    let (host, file) = (sample.member.url().replace("http://", "etcd://"), sample.beside("a.backup"));
    let [one, two] = ["one", "two"].map(|name| PathBuf::from(format!("{host}/{name}")));
    expect(0, &[path("backup"), &embedded.dir(), path("--to"), &file]);
    thread::sleep(short);
    expect(0, &[path("copy"), &embedded.dir(), &one]);
    expect(0, &[path("restore"), &file, path("--to"), &two]);
    for (place, prefix) in [(&one, "/one"), (&two, "/two")] {
        let events = sample.member.control(&["get", "--prefix", &format!("{prefix}/events/"), "--keys-only"]);
        assert_eq!(events.trim(), format!("{prefix}/events/default/long"));
        let (out, _) = expect(0, &[path("check"), place, path("--against"), &embedded.dir()]);
        assert!(out.contains("both hold the same objects"), "{out}");
    }
}

#[test]
fn objects_that_etcd_refuses_are_named() {
    let mut random = Random::from_environment();
    let Some(sample) = Sample::new(&mut random, 0) else { return };
    let embedded = sample::store(&mut random, 5, 1 << 20);
    let store = Embedded::open(embedded.dir(), Options::default()).unwrap();
    block_on(store.commit(vec![put("things/default/large", &"x".repeat(2 << 20))].into())).unwrap();
    drop(store);
    let target = PathBuf::from(format!("{}/shop", sample.member.url().replace("http://", "etcd://")));
    let (_, err) = expect(2, &[path("copy"), &embedded.dir(), &target]);
    assert!(err.contains("/registry/things/default/large: the object exceeds the limit"), "{err}");
}
