//! etcd as the source.

use super::*;

#[test]
fn etcd_is_copied_and_backed_up_without_a_write() {
    let mut random = Random::from_environment();
    let Some(sample) = Sample::new(&mut random, 300) else { return };
    // Three objects with one revision.
    sample.commit(["a", "b", "c"].map(|name| put(&format!("{name}/default/x"), "{}")).to_vec());
    sample.commit(vec![put("secrets/default/sealed", "k8s:enc:aescbc:v1:key1:0123456789abcdef")]);
    let before = sample.revision();
    let [one, two, three] = ["one", "two.backup", "three"].map(|name| sample.beside(name));
    let (out, err) = expect(0, &[path("copy"), &sample.place(), &one]);
    assert!(
        out.contains("verified") && out.contains("  2 objects have new resourceVersions") && err.is_empty(),
        "{out}{err}"
    );
    let (out, _) = expect(0, &[path("backup"), &sample.place(), path("--to"), &two]);
    assert!(out.contains("verified"), "{out}");
    expect(0, &[path("restore"), &two, path("--to"), &three]);
    for target in [&one, &two, &three] {
        let (out, _) = expect(0, &[path("check"), target, path("--against"), &sample.place()]);
        assert!(out.contains("both hold the same objects"), "{out}");
    }
    let (out, _) = expect(0, &[path("check"), &sample.place()]);
    assert!(out.contains("whole, as of resourceVersion") && out.contains("digest"), "{out}");
    assert!(
        out.contains("foreign /registry/secrets/default/sealed: encrypted, read only by a server with the keys"),
        "{out}"
    );
    assert_eq!(sample.revision(), before, "nothing was written");

    let expected = state_at(&sample.all.lock().unwrap(), Revision(u64::MAX));
    let shared = expected["/registry/a/default/x"].0;
    for dir in [&one, &three] {
        let found = contents(dir);
        let mut revisions: Vec<_> = found.entries.iter().map(|entry| entry.revision).collect();
        revisions.sort_unstable();
        assert!(revisions.windows(2).all(|pair| pair[0] < pair[1]), "each object has a revision of its own");
        assert_eq!((found.head, found.compacted), (*revisions.last().unwrap(), found.head));
        let differing = found.entries.iter().filter(|entry| {
            let (revision, value) = &expected[&*entry.key];
            assert_eq!(entry.value.as_ref(), Ok(value));
            assert!(entry.revision == *revision || (*revision == shared && entry.revision.0 > 1 << 40));
            entry.revision != *revision
        });
        assert_eq!(differing.count(), 2);
        assert_eq!(found.entries.len(), expected.len());
    }
}

#[test]
fn a_copy_of_etcd_under_writers_is_killed_twice_and_resumed() {
    let mut random = Random::from_environment();
    let Some(sample) = Sample::new(&mut random, 0) else { return };
    sample.fill(4_000, 6_000);
    let writers = sample.writers(&mut random);
    let (target, unfinished) = (sample.beside("target"), sample.beside(".target.copy/store.redb"));
    let mut killed = 0;
    for _ in 0..2 {
        let first = size(&unfinished).max(6 << 20);
        let child = start(&[&sample.place(), &target]);
        killed +=
            usize::from(kill(child, || size(&unfinished) > first, Duration::from_millis(random.below(40) as u64)));
    }
    assert!(killed > 0, "each copy was done before it was killed");
    let (out, _) = expect(0, &[path("copy"), &sample.place(), &target]);
    assert!(out.contains("begun by an earlier run"), "{out}");
    sample.assert_copied(&target, &out);

    // It follows until it is interrupted. Then the last changes are of other keys, and the last one here is a deletion.
    let followed = sample.beside("followed");
    let mut child = start(&[&sample.place(), &followed, path("--follow")]);
    let line = follows(&mut child);
    assert!(line.contains("press Ctrl-C, after the servers that use it have stopped, to complete"), "{line}");
    thread::sleep(Duration::from_secs(1));
    drop(writers);
    sample.commit(vec![put("widgets/default/last", "1")]);
    sample.commit(vec![Op { value: None, ..put("widgets/default/last", "") }]);
    sample.member.control(&["put", "/elsewhere", "1"]);
    signal(&child);
    let output = child.wait_with_output().unwrap();
    let [out, err] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    assert_eq!(output.status.code(), Some(0), "{out}{err}");
    sample.assert_copied(&followed, &out);
    assert!(out.contains(&format!("as of resourceVersion {};", sample.revision())), "{out}");
}

#[test]
fn a_copy_of_etcd_that_was_compacted_meanwhile_compares_all_objects_again() {
    let mut random = Random::from_environment();
    let Some(sample) = Sample::new(&mut random, 0) else { return };
    sample.fill(3_000, 6_000);
    let (target, unfinished) = (sample.beside("target"), sample.beside(".target.copy/store.redb"));
    let child = start(&[&sample.place(), &target]);
    assert!(kill(child, || size(&unfinished) > 6 << 20, Duration::ZERO), "the copy was done before it was killed");
    sample.commit(vec![Op { value: None, ..put("shop.example.com/books/default/book-00000", "") }]);
    sample.commit(vec![put("shop.example.com/books/default/book-00001", "new")]);
    sample.member.control(&["compact", &sample.revision()]);
    let (out, _) = expect(0, &[path("copy"), &sample.place(), &target]);
    assert!(out.contains("compared again"), "{out}");
    sample.assert_copied(&target, &out);
}

#[test]
fn values_with_a_lifetime_expire_in_the_copy() {
    let mut random = Random::from_environment();
    let Some(sample) = Sample::new(&mut random, 5) else { return };
    let lives = |name, seconds| Op { lifetime: Some(Duration::from_secs(seconds)), ..put(name, "{}") };
    sample.commit(vec![lives("events/default/short", 4)]);
    sample.commit(vec![lives("events/default/long", 3_600)]);
    let target = sample.beside("target");
    expect(0, &[path("copy"), &sample.place(), &target]);
    let store = Embedded::open(&target, Options::default()).unwrap();
    store.attach(Box::new(|_| {}));
    let exists = |name: &str| store.get(&format!("/registry/events/default/{name}")).unwrap().is_some();
    let start = Instant::now();
    while exists("short") {
        assert!(start.elapsed() < SOON, "it does not expire");
        thread::sleep(Duration::from_millis(20));
    }
    assert!(exists("long"));
}

#[test]
fn what_is_wrong_with_a_place_in_etcd_is_said() {
    let folder = Folder::new("etcd");
    let to = folder.path().join("target");
    let (_, err) = expect(2, &[path("copy"), path("etcd:///registry"), &to]);
    assert!(err.contains("has no host; expected an address such as etcd://"), "{err}");
    let (_, err) = expect(2, &[path("check"), path("./data"), path("--etcd-ca"), path("ca.pem")]);
    assert!(err.contains("--etcd-ca is for a place in etcd"), "{err}");
    let (_, err) = expect(2, &[path("check"), path("etcd://127.0.0.1:1/registry")]);
    assert!(err.contains("no member of etcd can be reached: http://127.0.0.1:1"), "{err}");
    let Some(sample) = Sample::new(&mut Random::from_environment(), 5) else { return };
    let host = sample.member.url().replace("http://", "etcd://");
    let (_, err) = expect(2, &[path("copy"), path(&format!("{host}/regsitry")), &to]);
    assert!(err.contains("there are no keys below /regsitry; check the prefix"), "{err}");
    let (_, err) = expect(2, &[path("check"), path(&host), path("--etcd-ca"), path("/no/such")]);
    assert!(err.contains("/no/such cannot be read"), "{err}");

    for command in [
        "user add root:secret",
        "user grant-role root root",
        "role add shop",
        "role grant-permission shop read --prefix=true /shop/",
        "user add ann:pass",
        "user grant-role ann shop",
        "auth enable",
    ] {
        sample.member.control(&command.split(' ').collect::<Vec<_>>());
    }
    sample.member.control(&["--user", "root:secret", "put", "/shop/things/default/a", "{}"]);
    let password = folder.path().join("password");
    std::fs::write(&password, "pass\n").unwrap();
    let shop = PathBuf::from(format!("{host}/shop"));
    let ann = [path("--etcd-user"), path("ann"), path("--etcd-password-file"), &password];
    let (out, _) = expect(0, &[&[path("copy"), &shop, &to], &ann[..]].concat());
    assert!(out.contains("1 objects"), "reading needs no more than the permission to read: {out}");
    let (_, err) = expect(2, &[&[path("check"), path(&host)], &ann[..]].concat());
    assert!(err.contains("etcd's user \"ann\" may not do this below /registry"), "{err}");
    let (_, err) = expect(2, &[path("check"), &shop]);
    assert!(err.contains("etcd asks for a user"), "{err}");
}
