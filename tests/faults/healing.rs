//! Disks that fail for a while, under several writers and a reader.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use kindsmith_storage::{Embedded, Options, Store};

use crate::{
    disk::{Fault, FaultyDisk},
    record::{Answered, Record},
};

fn await_health(store: &Embedded, writes: bool) {
    let start = Instant::now();
    while store.health().refuses_writes.is_none() != writes {
        assert!(start.elapsed() < Duration::from_secs(6), "{:?}", store.health());
        thread::sleep(Duration::from_millis(5));
    }
}

/// The store reopens its file for reading, and may not be ready yet.
fn await_read(store: &Embedded) {
    let start = Instant::now();
    while let Err(error) = store.range("/") {
        assert!(start.elapsed() < Duration::from_secs(5), "{error}");
        thread::sleep(Duration::from_millis(5));
    }
    assert!(store.health().refuses_writes.is_some(), "the disk fails still");
}

/// A fault occurs and ends three times while four writers write.
fn comes_and_goes(fault: Fault, reads_go_on: bool) {
    let (disk, record, stop) = (FaultyDisk::default(), Record::default(), AtomicBool::new(false));
    let store = Embedded::open_on(disk.clone(), Options::default()).unwrap();
    record.attach(&store);
    thread::scope(|scope| {
        for writer in 0..4 {
            let (store, record, stop) = (&store, record.clone(), &stop);
            scope.spawn(move || {
                for step in 0.. {
                    if stop.load(Ordering::Relaxed) {
                        return;
                    }
                    let answer = record.write(store, &format!("/{writer}/{}", step % 7), &format!("{writer}-{step}"));
                    match answer {
                        Answered::Acknowledged(_) => {}
                        Answered::Refused { full, message } => {
                            assert_eq!(full, fault == Fault::Full, "{message}");
                            thread::sleep(Duration::from_millis(2));
                        }
                        Answered::Unknown => thread::sleep(Duration::from_millis(2)),
                    }
                }
            });
        }
        for round in 0..3 {
            let before = record.acknowledged();
            let start = Instant::now();
            while record.acknowledged() < before + 20 {
                assert!(start.elapsed() < Duration::from_secs(10), "nothing is written");
                thread::sleep(Duration::from_millis(2));
            }
            disk.set(Some(fault));
            await_health(&store, false);
            if reads_go_on {
                await_read(&store);
            }
            thread::sleep(Duration::from_millis(50 * round));
            disk.set(None);
            await_health(&store, true);
        }
        stop.store(true, Ordering::Relaxed);
    });
    record.write_until_done(&store, "/last", "last");
    let what = format!("{fault:?}");
    record.verify(&store, &what);
    let lost = Embedded::open_on(disk.after_power_loss(), Options::default()).unwrap();
    record.verify(&lost, &format!("{what}, after power loss"));
    drop(store);
    record.verify(&Embedded::open_on(disk, Options::default()).unwrap(), &format!("{what}, reopened"));
}

#[test]
fn a_full_disk_refuses_writes_serves_reads_and_heals() {
    comes_and_goes(Fault::Full, true);
}

#[test]
fn a_read_only_disk_refuses_writes_serves_reads_and_heals() {
    comes_and_goes(Fault::ReadOnly, false);
}

#[test]
fn failed_syncs_that_lose_pages_lose_nothing_that_was_acknowledged() {
    comes_and_goes(Fault::SyncsLosePages, false);
}

#[test]
fn failed_syncs_that_keep_pages_show_each_change_once() {
    comes_and_goes(Fault::Syncs, false);
}

#[test]
fn a_disk_that_answers_nothing_heals() {
    comes_and_goes(Fault::All, false);
}
