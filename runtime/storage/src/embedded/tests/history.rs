//! Retention of history by size and age, and across restarts.

use std::{
    collections::VecDeque,
    time::{Instant, SystemTime},
};

use super::{
    clock::{Clock, ClockReading},
    *,
};

fn delete(store: &Embedded, key: &str) -> Revision {
    commit(store, vec![Op { key: key.into(), value: None, expect: Expect::Any, lifetime: None }]).unwrap()[0]
}

/// Waits until history is compacted up to a revision.
fn await_compacted(store: &Embedded, upto: Revision) {
    let start = Instant::now();
    while store.compacted() < upto {
        assert!(start.elapsed() < Duration::from_secs(10), "compacted only up to {}", store.compacted());
        thread::yield_now();
    }
}

/// The value of `/a` at its first revision, and which revisions wrote the newest values.
struct Seen(Option<&'static str>, &'static [u64]);

impl ValueCache for Seen {
    fn value(&self, key: &str, revision: Revision) -> Option<Bytes> {
        assert_eq!((key, revision), ("/a", Revision(1)), "the value of /b is part of the same piece");
        self.0.map(Bytes::from)
    }

    fn is_newest(&self, _: &str, revision: Revision) -> bool {
        self.1.contains(&revision.0)
    }
}

#[test]
fn a_pass_reads_only_replaced_values_that_it_has_not_seen() {
    let scratch = Scratch::new();
    let store = scratch.open(Options::default());
    put(&store, "/a", "1");
    put(&store, "/b", "2");
    put(&store, "/a", "3");
    put(&store, "/b", "4");
    let pass = |after, known: &dyn ValueCache| store.pass(Revision(after), 10, known).unwrap();
    let previous = |after, known: &dyn ValueCache| -> Vec<_> {
        let value = |change: Change| match change.previous {
            Previous::Value(_, value) => value.ok(),
            Previous::Absent | Previous::Unread => None,
        };
        pass(after, known).into_iter().filter_map(value).collect()
    };
    assert_eq!(previous(1, &Seen(Some("seen"), &[])), ["seen", "2"]);
    assert_eq!(previous(1, &Seen(None, &[])), ["1", "2"]);
    assert_eq!(previous(0, &Seen(Some("seen"), &[])), ["1", "2"], "all are part of the piece");
    let values = |newest| -> Vec<_> {
        pass(0, &Seen(None, newest)).into_iter().map(|change| change.value.expect("a value")).collect()
    };
    assert_eq!(values(&[3, 4]), ["1", "2", "", ""]);
    assert_eq!(previous(0, &Seen(None, &[1])), ["1", "2"], "a value that was left out is read where it was replaced");
}

#[test]
fn acknowledged_writes_are_there_after_reopening() {
    let scratch = Scratch::new();
    let store = scratch.open(Options::default());
    put(&store, "/a", "1");
    put(&store, "/b", "1");
    put(&store, "/a", "2");
    delete(&store, "/b");
    let before = store.changes(Revision(0), 10).unwrap();
    drop(store);
    let store = scratch.open(Options::default());
    assert_eq!((store.head(), store.compacted()), (Revision(4), Revision(0)));
    assert_eq!(store.changes(Revision(0), 10).unwrap(), before);
    assert_eq!(put(&store, "/c", "1"), Revision(5));
}

#[test]
fn no_revision_is_reused_even_when_the_newest_change_is_forgotten() {
    let scratch = Scratch::new();
    let store = scratch.open(Options::default());
    put(&store, "/a", "1");
    delete(&store, "/a");
    store.compact(Revision(2)).unwrap();
    drop(store);
    let store = scratch.open(Options::default());
    assert_eq!((store.head(), store.compacted()), (Revision(2), Revision(2)));
    assert_eq!(put(&store, "/a", "2"), Revision(3));
    assert_eq!(store.changes(Revision(2), 9).unwrap()[0].previous, Previous::Absent);
}

#[test]
fn compaction_leaves_nothing_behind_but_the_newest_values() {
    let scratch = Scratch::new();
    let store = scratch.open(Options::default());
    for number in 0..300 {
        put(&store, &format!("/{}", number % 7), number.to_string());
    }
    delete(&store, "/3");
    store.compact(Revision(301)).unwrap();
    let log = redb::ReadableDatabase::begin_read(store.current.get().db()).unwrap().open_table(layout::LOG).unwrap();
    assert_eq!(redb::ReadableTableMetadata::len(&log).unwrap(), 6);
    assert_eq!(store.range("/").unwrap().0.len(), 6);
}

#[test]
fn history_is_cut_by_size() {
    let scratch = Scratch::new();
    let store = scratch.open(Options { history_bytes: 100_000, ..Options::default() });
    // A page has room for four rows of 964 bytes, and seven eighths of the limit for 85 of them.
    let value = Bytes::from(vec![b'x'; 964]);
    for _ in 0..86 {
        put(&store, "/a", value.clone());
    }
    assert_eq!(store.compacted(), Revision(0), "85 replaced values have room");
    for _ in 0..113 {
        put(&store, "/a", value.clone());
    }
    await_compacted(&store, Revision(114));
    assert_eq!(store.compacted(), Revision(114), "history is cut to its limit, no further");
    store.close();
    let compacted = store.compacted();
    drop(store);
    let store = scratch.open(Options { history_bytes: 100_000, ..Options::default() });
    assert_eq!(store.compacted(), compacted, "the cut survives a restart");
    assert_eq!(store.changes(compacted, 1_000).unwrap().len() as u64, 199 - compacted.0);
}

#[test]
fn objects_that_were_created_before_do_not_hold_compaction_up() {
    const CREATED: u32 = 30_000;
    const KEPT: u64 = 100;
    let scratch = Scratch::new();
    // A page has room for two rows of 2,000 bytes.
    let store = scratch.open(Options { history_bytes: KEPT * 2_048 * 8 / 7 + 8, ..Options::default() });
    let op = |number: u32, value| Op { key: format!("/{number}").into(), value, expect: Expect::Any, lifetime: None };
    commit(&store, (0..CREATED).map(|number| op(number, Some(Bytes::new()))).collect::<Vec<_>>()).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let value = Bytes::from(vec![b'x'; 1_960]);
    // There are always 50 commits that wait, so that nothing is removed between groups.
    let mut waiting = VecDeque::new();
    for number in 0..2_000 {
        waiting.push_back(store.commit(vec![op(CREATED + number % 50, Some(value.clone()))].into()));
        if waiting.len() == 50 {
            runtime.block_on(waiting.pop_front().unwrap()).unwrap();
        }
    }
    let kept = store.head().0 - store.compacted().0;
    assert!((KEPT..KEPT + 150).contains(&kept), "{kept} changes are kept");
}

#[test]
fn rows_take_the_space_that_is_counted() {
    for length in [10, 400, 1_300, 1_950, 2_000, 3_900, 4_100, 9_000, 70_000] {
        let db = redb::Database::builder().create_with_backend(redb::backends::InMemoryBackend::new()).unwrap();
        let (body, mut counted) = (vec![b'x'; length], 0);
        let transaction = db.begin_write().unwrap();
        for number in 1..=(8 << 20) / length.max(400) as u64 {
            let row = layout::Row {
                previous: Revision(0),
                obsolete: 0,
                key: "/registry/configmaps/default/a",
                body: Some(&body),
                deadline_ms: None,
            };
            let mut log = transaction.open_table(layout::LOG).unwrap();
            row.write(Revision(number), log.insert_reserve(number, row.size()).unwrap().as_mut());
            counted += row.space();
        }
        transaction.commit().unwrap();
        let used = db.begin_write().unwrap().stats().unwrap().allocated_pages() * 4_096;
        assert!(counted * 100 / used >= 94 && counted <= used, "{length}: {counted} bytes of {used}");
    }
}

#[test]
fn history_is_cut_by_age_while_nothing_is_written() {
    let scratch = Scratch::new();
    let store = scratch.open(Options { history_age: Duration::from_millis(600), ..Options::default() });
    let start = SystemTime::now();
    put(&store, "/a", "1");
    let last = put(&store, "/a", "2");
    await_compacted(&store, last);
    assert!(start.elapsed().unwrap() >= Duration::from_millis(600), "history was cut early");
    assert_eq!(store.changes(last, 10).unwrap(), []);
}

#[test]
fn the_age_of_history_is_known_after_reopening() {
    let scratch = Scratch::new();
    let store = scratch.open(Options::default());
    let last = put(&store, "/a", "1");
    drop(store);
    let store = scratch.open(Options { history_age: Duration::from_millis(1), ..Options::default() });
    await_compacted(&store, last);
}

#[test]
fn a_step_of_the_clock_makes_no_history_old_and_keeps_none_for_ever() {
    let scratch = Scratch::new();
    let options = Options::default();
    let store = scratch.open(options);
    let last = put(&store, "/a", "1");
    // Closing records the time after the change.
    drop(store);
    let store = scratch.open(options);
    let hour_ms = 3_600_000;
    let age_ms = u64::try_from(options.history_age.as_millis()).unwrap();
    let handle = store.current.get();
    let transaction = redb::ReadableDatabase::begin_read(handle.db()).unwrap();
    let note = layout::read_note(&transaction.open_table(layout::META).unwrap()).unwrap();
    let at = |now| {
        let clock = Clock::starting(now, note, 0);
        guarded(|| History::load(handle.db(), &options, Some(clock))).unwrap()
    };
    let now = ClockReading::now();
    let back = ClockReading { system_ms: now.system_ms - hour_ms, ..now };
    let forward = ClockReading { system_ms: now.system_ms + hour_ms, ..now };
    for (step, now) in
        [("none", now), ("back", back), ("back at a restart", ClockReading { boot: 0, ..back }), ("on", forward)]
    {
        let (mut history, end) = at(now);
        assert!(!history.due(end), "{step}: nothing is old");
        let due_ms = history.next_due_ms().expect("the change has a time");
        assert!(due_ms > age_ms / 2 && due_ms <= age_ms, "{step}: {due_ms} ms");
    }
    let (mut history, end) = at(ClockReading { boot: 0, ..forward });
    assert!(history.due(end) && history.compacted() < last, "an hour later it is old");
}

#[test]
fn the_file_stops_growing_once_history_is_at_its_limit() {
    let scratch = Scratch::new();
    let store = scratch.open(Options { history_bytes: 1 << 20, ..Options::default() });
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let value = Bytes::from(vec![b'x'; 1_600]);
    for round in 0..120_u64 {
        let op = |number: u64| Op {
            key: format!("/{}", (round * 7919 + number * 31) % 200).into(),
            value: Some(value.clone()),
            expect: Expect::Any,
            lifetime: None,
        };
        let queued: Vec<_> = (0..50).map(|number| store.commit(vec![op(number)].into())).collect();
        for queued in queued {
            assert!(runtime.block_on(queued).is_ok());
        }
    }
    let size = fs::metadata(scratch.0.join("store.redb")).unwrap().len();
    assert!(size < 6 << 20, "{size} bytes for 1 MiB of history and 200 objects, after 10 MB of writes");
}

#[test]
fn history_keeps_to_its_limit_while_many_writers_never_stop() {
    const LIMIT: u64 = 2 << 20;
    let scratch = Scratch::new();
    let store = scratch.open(Options { history_bytes: LIMIT, ..Options::default() });
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let value = Bytes::from(vec![b'x'; 1_600]);
    let op = |number: u64| Op {
        key: format!("/{}", number * 31 % 400).into(),
        value: Some(value.clone()),
        expect: Expect::Any,
        lifetime: None,
    };
    // Ten times the limit, and always 400 commits that wait.
    let (mut waiting, mut most) = (VecDeque::new(), 0);
    for number in 0..LIMIT * 10 / 1_600 {
        waiting.push_back(store.commit(vec![op(number)].into()));
        if waiting.len() == 400 {
            runtime.block_on(waiting.pop_front().unwrap()).unwrap();
            most = most.max(store.head().0 - store.compacted().0);
        }
    }
    let bytes = most * 1_650;
    assert!(bytes < LIMIT + LIMIT / 2, "history grew to {bytes} bytes, and its limit is {LIMIT}");
    for waiting in waiting {
        runtime.block_on(waiting).unwrap();
    }
    let size = fs::metadata(scratch.0.join("store.redb")).unwrap().len();
    // Beside the history the file has 400 objects, and pages of a few groups of 400 commits.
    assert!(size < 2 * LIMIT + (6 << 20), "{size} bytes");
}
