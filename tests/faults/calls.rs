//! Each call of the disk fails in turn: opening, writes, compaction, settling and closing.

use std::io::ErrorKind;

use kindsmith_storage::{Embedded, Options, Store};

use crate::{disk::FaultyDisk, record::Record};

fn options() -> Options {
    Options {
        // Less than is written, so that history is compacted.
        history_bytes: 4_000,
        // Less than is written, so that pages are written before the commit.
        cache_bytes: 32 << 10,
        scrub_bytes_per_second: 0,
        ..Options::default()
    }
}

/// A store's life in which the n-th call fails once. Returns whether there was such a call.
fn run(number: u64, kind: ErrorKind) -> bool {
    let (disk, record) = (FaultyDisk::default(), Record::default());
    let what = format!("call {number} fails with {kind:?}");
    drop(Embedded::open_on(disk.clone(), options()).unwrap());
    disk.fail_at(number, kind);
    let store = match Embedded::open_on(disk.clone(), options()) {
        Ok(store) => store,
        Err(error) => {
            assert!(disk.has_failed(), "{what}: {error}");
            Embedded::open_on(disk.clone(), options()).unwrap_or_else(|error| panic!("{what}, opened again: {error}"))
        }
    };
    record.attach(&store);
    for step in 0..16 {
        record.write_until_done(&store, &format!("/{}", step % 5), &format!("{step}"));
    }
    record.verify(&store, &what);
    store.close();
    drop(store);
    let failed = disk.has_failed();
    disk.fail_at(u64::MAX, kind);
    record
        .verify(&Embedded::open_on(disk.after_power_loss(), options()).unwrap(), &format!("{what}, after power loss"));
    record.verify(&Embedded::open_on(disk, options()).unwrap(), &format!("{what}, reopened"));
    failed
}

fn each_call_in_turn(kind: ErrorKind) {
    let calls = (1..=10_000).take_while(|number| run(*number, kind)).count();
    println!("{calls} calls, each failed once with {kind:?}");
    assert!((50..10_000).contains(&calls), "{calls} calls");
}

#[test]
fn an_input_output_error_at_each_call_in_turn() {
    each_call_in_turn(ErrorKind::Other);
}

#[test]
fn a_full_disk_at_each_call_in_turn() {
    each_call_in_turn(ErrorKind::StorageFull);
}
