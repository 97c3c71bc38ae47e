//! Reading a file without the engine: it finds the same, and no damage escapes it.

use super::{disk::Disk, *};
use crate::{
    Entry,
    embedded::{
        layout::State,
        pages::Pages,
        tables::{Engines, Tables},
        verify::verify_and_scan,
    },
};

/// The content of a file as reading without the engine finds it. `None` if that refuses the file.
fn read(file: &[u8]) -> Option<(State, Vec<Entry>)> {
    let disk = Disk::holding(file.to_vec());
    let pages = Pages::open(&disk)?;
    let found = Mutex::new(Vec::new());
    let visit = |piece: Vec<(usize, Entry)>| found.lock().unwrap().extend(piece);
    let report = verify_and_scan(&pages, &[""], &visit, &mut |_, _, _| {}).ok()?;
    let mut found = found.into_inner().unwrap();
    found.sort_by_key(|(position, _)| *position);
    let found = found.into_iter().map(|(_, entry)| entry).collect();
    (report.is_whole() && pages.are_sound()).then_some((report.state, found))
}

/// The engine opens the file, and finds that all pages match their checksums.
fn engine_accepts(file: &[u8]) -> bool {
    let disk: Arc<dyn crate::Disk> = Arc::new(Disk::holding(file.to_vec()));
    guarded(|| Handle::open_reading(&disk, &Options::default())?.verify_pages()).is_ok()
}

/// Stores with these numbers of keys. Some keys are written again or deleted, some values are large or expire, and some
/// history is removed.
fn made(objects: usize) -> (Vec<u8>, Vec<Entry>, State) {
    let scratch = Scratch::new();
    let store = scratch.open(Options::default());
    let key = |number: usize| format!("/registry/things/{:05}", number * 7 % objects.max(1));
    let op = |number: usize, size: Option<usize>| {
        let value = size.map(|size| vec![b'a' + u8::try_from(number % 26).unwrap(); size].into());
        let lifetime = value.as_ref().filter(|_| number.is_multiple_of(5)).map(|_| Duration::from_hours(1));
        Op { key: key(number).into(), value, expect: Expect::Any, lifetime }
    };
    let created = (0..objects).map(|number| op(number, Some(20 + number * number % 3_000)));
    let updated = (0..objects).step_by(3).map(|number| op(number, Some(if number == 30 { 200_000 } else { 30 })));
    let deleted = (0..objects).step_by(11).map(|number| op(number, None));
    for ops in [created.collect::<Vec<_>>(), updated.collect(), deleted.collect()] {
        for ops in ops.chunks(100) {
            commit(&store, ops.to_vec()).unwrap();
        }
    }
    store.compact(Revision(objects as u64)).unwrap();
    let (entries, _) = store.range("").unwrap();
    drop(store);
    let file = fs::read(scratch.0.join("store.redb")).unwrap();
    let disk: Arc<dyn crate::Disk> = Arc::new(Disk::holding(file.clone()));
    let state = Engines::open(Handle::open_reading(&disk, &Options::default()).unwrap().db()).unwrap().state().unwrap();
    (file, entries, state)
}

#[test]
fn a_file_is_read_as_the_engine_reads_it() {
    for objects in [0, 1, 3, 40, 2_003] {
        let (file, entries, state) = made(objects);
        let (found_state, found) = read(&file).expect("the engine writes the format that is known");
        assert_eq!(found_state, state, "{objects}");
        assert_eq!(found, entries, "{objects}");
    }
}

#[test]
fn no_changed_byte_goes_unnoticed_where_it_counts() {
    let (file, entries, state) = made(40);
    let mut accepted = 0;
    let used: Vec<usize> = (0..file.len()).filter(|at| file[*at] != 0).collect();
    // All of the header, and a part of the rest.
    let places = (0..320).chain(used.iter().copied().filter(|at| *at >= 320).step_by(used.len() / 500 + 1));
    let mut changed = file.clone();
    for at in places {
        changed[at] ^= 1 << (at % 8);
        if let Some(found) = read(&changed) {
            assert_eq!(found, (state, entries.clone()), "byte {at}");
            // The engine checks the header itself.
            assert!(at < 320 || engine_accepts(&changed), "byte {at}");
            accepted += 1;
        }
        changed[at] = file[at];
    }
    assert!(accepted > 0, "pages that are not in use");
}

#[test]
fn torn_and_misplaced_pages_are_noticed() {
    const PAGE: usize = 4_096;
    let (file, ..) = made(300);
    let is_used = |page: usize| {
        let mut changed = file.clone();
        changed[page * PAGE..(page + 1) * PAGE].fill(0xa5);
        read(&changed).is_none()
    };
    let used: Vec<usize> = (1..file.len() / PAGE).filter(|page| is_used(*page)).collect();
    assert!(used.len() > 20, "{used:?}");
    for (at, page) in used.iter().enumerate() {
        let place = page * PAGE..(page + 1) * PAGE;
        let other = used[(at + 7) % used.len()] * PAGE;
        let mut changed = file.clone();
        // The page of another place, as after a misdirected write.
        changed.copy_within(other..other + PAGE, place.start);
        assert!(read(&changed).is_none() || changed == file, "page {page} from {other}");
        // The first sector is of an older write.
        changed.copy_from_slice(&file);
        changed[place][..512].fill(0);
        assert!(read(&changed).is_none(), "page {page}");
    }
}

#[test]
fn a_page_number_that_names_too_large_a_page_is_refused_before_memory_is_taken() {
    const SLOTS: [usize; 2] = [64, 192];
    let (file, ..) = made(40);
    for order in [20_u8, 21, 31] {
        let mut changed = file.clone();
        for slot in SLOTS {
            // The number of the root page, in which the order is the highest five bits, and the slot's checksum.
            changed[slot + 15] = order << 3;
            let checksum = twox_hash::XxHash3_128::oneshot(&changed[slot..slot + 112]);
            changed[slot + 112..slot + 128].copy_from_slice(&checksum.to_le_bytes());
        }
        assert!(read(&changed).is_none(), "order {order}");
    }
}

#[test]
fn a_killed_store_is_repaired_once() {
    let scratch = Scratch::new();
    let store = scratch.open(Options::default());
    for number in 0..200 {
        put(&store, &format!("/{number}"), vec![b'x'; 500]);
    }
    let killed = fs::read(scratch.0.join("store.redb")).unwrap();
    drop(store);
    let disk: Arc<dyn crate::Disk> = Arc::new(Disk::holding(killed));
    let handle = Handle::open_reading_all(&disk, &Options::default()).unwrap();
    assert!(handle.pages_verified, "repaired");
    handle.write().unwrap();
    // Reads and writes go to the disk from now on.
    let transaction = handle.db().begin_write().unwrap();
    let mut state = Engines::open(handle.db()).unwrap().state().unwrap();
    state.passed = 7;
    state.save(&mut transaction.open_table(layout::META).unwrap()).unwrap();
    transaction.commit().unwrap();
    assert_eq!(Engines::open(handle.db()).unwrap().state().unwrap(), state);
    drop(handle);
    let handle = Handle::open_reading_all(&disk, &Options::default()).unwrap();
    assert!(!handle.pages_verified, "closed in order");
    assert_eq!(Engines::open(handle.db()).unwrap().state().unwrap(), state);
}
