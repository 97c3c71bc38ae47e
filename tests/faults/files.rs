//! Files and directories that are removed or replaced under an open store.

use std::{
    fs, thread,
    time::{Duration, Instant},
};

use kindsmith_storage::{Embedded, Options, Store};
use kindsmith_tests::Folder;

use crate::record::{Answered, Record};

/// A store whose files are moved away and back: it refuses writes meanwhile, and reads continue.
fn taken_away_and_put_back(take: impl Fn(&Folder), put_back: impl Fn(&Folder)) {
    let (folder, record) = (Folder::new("faults"), Record::default());
    let data = folder.path().join("data");
    let store = Embedded::open(&data, Options::default()).unwrap();
    record.attach(&store);
    record.write_until_done(&store, "/a", "before");
    take(&folder);
    let Answered::Refused { full: false, message } = record.write(&store, "/a", "meanwhile") else {
        panic!("the write was not refused")
    };
    assert!(message.contains(data.join("store.redb").to_str().unwrap()), "{message}");
    assert_eq!(store.health().refuses_writes, Some(message));
    assert_eq!(store.range("/").unwrap().0.len(), 1, "reads go on");
    put_back(&folder);
    record.write_until_done(&store, "/b", "after");
    record.verify(&store, "put back");
    drop(store);
    record.verify(&Embedded::open(&data, Options::default()).unwrap(), "reopened");
}

#[test]
fn a_directory_that_was_moved_away() {
    let (here, there) = (|folder: &Folder| folder.path().join("data"), |folder: &Folder| folder.path().join("away"));
    taken_away_and_put_back(
        |folder| fs::rename(here(folder), there(folder)).unwrap(),
        |folder| fs::rename(there(folder), here(folder)).unwrap(),
    );
}

#[test]
fn a_file_that_was_replaced() {
    let file = |folder: &Folder, name: &str| folder.path().join("data").join(name);
    taken_away_and_put_back(
        |folder| {
            fs::rename(file(folder, "store.redb"), file(folder, "old")).unwrap();
            fs::copy(file(folder, "old"), file(folder, "store.redb")).unwrap();
        },
        |folder| fs::rename(file(folder, "old"), file(folder, "store.redb")).unwrap(),
    );
}

#[test]
fn a_removed_directory_is_noticed_without_writes() {
    let folder = Folder::new("faults");
    let store = Embedded::open(folder.path().join("data"), Options::default()).unwrap();
    fs::remove_dir_all(folder.path().join("data")).unwrap();
    let start = Instant::now();
    while store.health().refuses_writes.is_none() {
        assert!(start.elapsed() < Duration::from_secs(5), "not noticed");
        thread::sleep(Duration::from_millis(20));
    }
}
