//! Flipped bits anywhere in the file: no panic, no wrong value, and no silent loss.
//!
//! By default a few hundred flips are spread over the file. `KINDSMITH_FLIPS=all` flips one bit in every nonzero byte
//! of a small store. A number flips that many random bits of a larger store.

use std::collections::BTreeMap;

use super::*;
use crate::{Entry, Value};

/// The content of the store before the flip.
struct Truth {
    file: Vec<u8>,
    head: Revision,
    values: BTreeMap<Arc<str>, (Revision, Bytes)>,
    changes: Vec<Change>,
}

/// History is kept, whatever its age.
fn options() -> Options {
    Options { history_age: Duration::from_secs(1 << 40), ..Options::default() }
}

fn make(scratch: &Scratch, objects: usize) -> Truth {
    let store = scratch.open(options());
    for number in 0..objects {
        put(
            &store,
            &format!("/registry/things/{number:05}"),
            vec![b'a' + u8::try_from(number % 26).unwrap(); 40 + number * 7 % 900],
        );
    }
    for number in (0..objects).step_by(5) {
        put(&store, &format!("/registry/things/{number:05}"), format!("again {number}"));
    }
    for number in (3..objects).step_by(17) {
        let key = format!("/registry/things/{number:05}").into();
        commit(&store, vec![Op { key, value: None, expect: Expect::Any, lifetime: None }]).unwrap();
    }
    let (entries, head) = store.range("").unwrap();
    let values = entries.into_iter().map(|Entry { key, value, revision }| (key, (revision, value.unwrap()))).collect();
    let changes = store.changes(Revision(0), usize::MAX).unwrap();
    drop(store);
    Truth { file: fs::read(scratch.0.join("store.redb")).unwrap(), head, values, changes }
}

/// The outcomes of the flips.
#[derive(Default, Debug)]
struct Outcomes {
    harmless: usize,
    reported: usize,
    refused: usize,
}

/// Opens the store with these bytes in its file and compares what it serves with the truth.
fn try_flipped(scratch: &Scratch, truth: &Truth, flipped: &[u8], outcomes: &mut Outcomes, at: usize) {
    for entry in fs::read_dir(&scratch.0).unwrap() {
        let path = entry.unwrap().path();
        if path.file_name().unwrap().to_string_lossy().starts_with("store.redb.") {
            fs::remove_file(path).unwrap();
        }
    }
    fs::write(scratch.0.join("store.redb"), flipped).unwrap();
    let store = match Embedded::open(&scratch.0, options()) {
        Ok(store) => store,
        Err(OpenError::Damaged { .. }) => {
            outcomes.refused += 1;
            return;
        }
        Err(error) => panic!("byte {at}: {error}"),
    };
    assert!(store.head() >= truth.head, "byte {at}: revisions would be used twice");
    let (entries, _) = store.range("").unwrap();
    let found: BTreeMap<Arc<str>, (Revision, Value)> =
        entries.into_iter().map(|entry| (entry.key, (entry.revision, entry.value))).collect();
    let mut damaged = found.values().filter(|(_, value)| value.is_err()).count();
    for (key, (revision, value)) in &found {
        let Ok(value) = value else { continue };
        let is_true = truth.values.get(key).is_some_and(|(r, v)| (r, v) == (revision, value));
        assert!(is_true, "byte {at}: {key} is {} bytes of revision {revision}, which it never was", value.len());
    }
    for key in truth.values.keys() {
        assert!(found.contains_key(key), "byte {at}: {key} is silently missing");
    }
    let from = store.compacted();
    let mut expected = truth.changes.iter().filter(|change| change.revision > from);
    match store.changes(from, usize::MAX) {
        Ok(changes) => {
            for change in changes {
                let same = expected.next().is_some_and(|expected| {
                    (change.revision, &change.key, &change.value) == (expected.revision, &expected.key, &expected.value)
                });
                assert!(same, "byte {at}: revision {} is an invented change", change.revision);
            }
        }
        Err(_) => damaged += 1,
    }
    damaged += usize::from(from > Revision(0));
    if damaged > 0 {
        outcomes.reported += 1;
    } else {
        outcomes.harmless += 1;
    }
    // The store accepts a new write and keeps it.
    let revision = put(&store, "/registry/things/new", "new");
    assert!(revision > truth.head, "byte {at}");
}

#[test]
fn flipped_bits_are_reported_or_harmless() {
    let wanted = std::env::var("KINDSMITH_FLIPS").unwrap_or_default();
    let scratch = Scratch::new();
    let random = wanted.parse::<usize>().ok();
    let objects = match random {
        Some(_) => 3_000,
        // The file has at least half a megabyte.
        None if wanted == "all" => 24,
        None => 120,
    };
    let truth = make(&scratch, objects);
    let witness = fs::read(scratch.0.join("HEAD")).unwrap();
    let used: Vec<usize> = (0..truth.file.len()).filter(|at| truth.file[*at] != 0).collect();
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = move || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        usize::try_from(seed >> 32).unwrap()
    };
    let places: Vec<usize> = match random {
        Some(count) => (0..count).map(|_| next() % truth.file.len()).collect(),
        None if wanted == "all" => used,
        None => used.iter().copied().step_by(used.len() / 250).collect(),
    };
    let mut outcomes = Outcomes::default();
    let mut flipped = truth.file.clone();
    let tried = places.len();
    for at in places {
        let bit = 1 << (next() % 8);
        flipped[at] ^= bit;
        fs::write(scratch.0.join("HEAD"), &witness).unwrap();
        try_flipped(&scratch, &truth, &flipped, &mut outcomes, at);
        flipped[at] ^= bit;
    }
    println!("{tried} flips in a file of {} bytes: {outcomes:?}", truth.file.len());
    assert!(outcomes.reported > 0, "{outcomes:?}");
}

#[test]
fn a_truncated_file_is_refused() {
    let scratch = Scratch::new();
    let truth = make(&scratch, 120);
    for part in 0..40 {
        let length = truth.file.len() * part / 40;
        fs::write(scratch.0.join("store.redb"), &truth.file[..length]).unwrap();
        let Err(error) = Embedded::open(&scratch.0, options()) else { panic!("opened {length} bytes") };
        assert!(matches!(error, OpenError::Damaged { .. }), "{length} bytes: {error}");
    }
}
