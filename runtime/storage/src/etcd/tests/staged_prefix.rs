//! A prefix that a copy fills while answers are lost.

use super::{proxy::Proxy, *};
use crate::{
    embedded::{Embedded, Options},
    etcd::{
        members::TRIED_FOR,
        tools::{prefix::Prefix, staged_prefix::StagedPrefix},
    },
    tools::{CopyOptions, Place, copy},
};

const NOTE: &str = "/registry/kindsmith.copy";

fn staged(proxy: &Proxy) -> StagedPrefix {
    StagedPrefix::open(&EtcdOptions::new([proxy.url()])).expect("an empty prefix")
}

fn note(member: &Member) -> String {
    member.control(&["get", NOTE, "--print-value-only"])
}

#[test]
fn a_note_is_written_once_though_the_answer_is_lost() {
    let Some(member) = Member::start() else { return };
    let proxy = Proxy::of(&member.url());
    let mut staged = staged(&proxy);
    for text in ["one", "two", "three"] {
        proxy.lose_answer("kindsmith.copy");
        staged.write(&[], text).expect("it is written");
        assert!(proxy.has_lost() && note(&member).lines().nth(1) == Some(text), "{}", note(&member));
    }
    // Two copies do not write side by side, whatever is lost.
    let mut other = StagedPrefix::open(&EtcdOptions::new([member.url()])).expect("an unfinished prefix");
    assert_eq!(other.note().as_deref(), Some("three"));
    other.write(&[], "three").expect("it is written");
    proxy.lose_answer("kindsmith.copy");
    let refused = staged.write(&[], "three").expect_err("the other one has written").to_string();
    assert!(proxy.has_lost() && refused.contains("another copy writes to it"), "{refused}");
    let refused = staged.finish().expect_err("the other one has written").to_string();
    assert!(refused.contains("another copy writes to it"), "{refused}");
    other.finish().expect("it is complete");
}

#[test]
fn a_prefix_is_complete_though_the_answer_is_lost() {
    let Some(member) = Member::start() else { return };
    let proxy = Proxy::of(&member.url());
    let mut staged = staged(&proxy);
    staged.write(&[], "one").expect("it is written");
    proxy.lose_answer("kindsmith.copy");
    let head = staged.finish().expect("it is complete");
    assert!(proxy.has_lost() && note(&member).is_empty());
    let prefix = Prefix::open(&EtcdOptions::new([member.url()])).expect("a prefix");
    assert_eq!(head, prefix.state(None).expect("a state").head);
}

#[test]
fn a_copy_that_follows_goes_on_after_etcd_was_away() {
    let Some(member) = Member::start() else { return };
    let proxy = Proxy::of(&member.url());
    let dir = member.dir().join("embedded");
    let store = Embedded::open(&dir, Options::default()).expect("a store");
    let write = |name: &str| commit(&store, vec![op(name, Some("1"))]).expect("a write");
    write("/things/a");
    let (mut options, interrupt) = (CopyOptions::default(), Arc::default());
    (options.follow, options.interrupt) = (true, Arc::clone(&interrupt));
    let to = Place::Etcd(Box::new(EtcdOptions::new([proxy.url()])));
    let from = Place::Directory(dir);
    let copying = thread::spawn(move || copy(&from, &to, &options, &mut |_| {}));
    let has = |name: &str| !member.control(&["get", &format!("/registry{name}")]).is_empty();
    until("the copy follows", || has("/things/a"));
    // The first change may come before it follows; the one after it does not.
    for name in ["/things/b", "/things/b2"] {
        write(name);
        until("the copy follows", || has(name));
    }
    proxy.cut();
    write("/things/c");
    // Longer than a call is tried again.
    thread::sleep(TRIED_FOR + Duration::from_secs(2));
    proxy.mend();
    write("/things/d");
    until("the copy goes on", || has("/things/d"));
    assert!(has("/things/c"), "what could not be written at first is written later");
    // The answers to a note, and to the last step, are lost.
    proxy.lose_answer("kindsmith.copy");
    write("/things/e");
    until("the answer is lost", || proxy.has_lost());
    proxy.lose_answer("kindsmith.copy");
    interrupt.request();
    let copied = copying.join().expect("no panic").expect("a complete copy");
    assert_eq!(copied.digest.objects, 6);
}
