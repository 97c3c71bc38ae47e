//! Opening a directory: ownership, allowed content, and refusals.

use super::*;

#[test]
fn a_directory_in_use_is_refused() {
    let scratch = Scratch::new();
    let store = scratch.open(Options::default());
    let Err(error) = Embedded::open(&scratch.0, Options::default()) else { panic!("opened twice") };
    assert!(matches!(error, OpenError::InUse { .. }), "{error}");
    assert!(error.to_string().contains(scratch.0.to_str().unwrap()), "{error}");
    drop(store);
    scratch.open(Options::default());
}

#[test]
fn a_newer_format_is_refused() {
    let scratch = Scratch::new();
    drop(scratch.open(Options::default()));
    fs::write(scratch.0.join("FORMAT"), "4\n").unwrap();
    let Err(error) = Embedded::open(&scratch.0, Options::default()) else { panic!("opened") };
    assert!(matches!(error, OpenError::NewerFormat { found: 4, known: 3, .. }), "{error}");
    fs::write(scratch.0.join("FORMAT"), "what\n").unwrap();
    let Err(error) = Embedded::open(&scratch.0, Options::default()) else { panic!("opened") };
    assert!(matches!(error, OpenError::Damaged { .. }), "{error}");
}

#[test]
fn a_directory_that_cannot_be_made_is_named() {
    let scratch = Scratch::new();
    fs::create_dir_all(&scratch.0).unwrap();
    let file = scratch.0.join("file");
    fs::write(&file, "").unwrap();
    let Err(error) = Embedded::open(file.join("data"), Options::default()) else { panic!("opened") };
    assert!(matches!(error, OpenError::Directory { .. }), "{error}");
}

#[test]
fn a_creation_that_was_cut_off_is_begun_again() {
    // The state after each step of `directory.rs`, and a state with a half-written file.
    let half = Some("half");
    for (format_new, store_new, store) in [
        (None, None, false),
        (half, None, false),
        (Some("1\n"), None, false),
        (Some("1\n"), Some(""), false),
        (Some("1\n"), half, false),
        (Some("1\n"), None, true),
    ] {
        let scratch = Scratch::new();
        drop(scratch.open(Options::default()));
        let file = |name| scratch.0.join(name);
        fs::remove_file(file("FORMAT")).unwrap();
        if !store {
            fs::remove_file(file("store.redb")).unwrap();
        }
        for (name, text) in [("FORMAT.new", format_new), ("store.redb.new", store_new)] {
            text.map_or(Ok(()), |text| fs::write(file(name), text)).unwrap();
        }
        let opened = scratch.open(Options::default());
        assert_eq!(put(&opened, "/a", "1"), Revision(1), "{format_new:?} {store_new:?} {store}");
        drop(opened);
        let mut names: Vec<_> = fs::read_dir(&scratch.0).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort_unstable();
        assert_eq!(names, ["FORMAT", "HEAD", "LOCK", "RESERVE", "store.redb"]);
        assert_eq!(scratch.open(Options::default()).head(), Revision(1));
    }
}

#[test]
fn a_store_that_lost_a_file_is_damaged_and_not_empty() {
    for (lost, left) in [("store.redb", "FORMAT"), ("FORMAT", "store.redb")] {
        let scratch = Scratch::new();
        put(&scratch.open(Options::default()), "/a", "1");
        fs::remove_file(scratch.0.join(lost)).unwrap();
        let Err(error) = Embedded::open(&scratch.0, Options::default()) else { panic!("opened without {lost}") };
        assert!(matches!(error, OpenError::Damaged { .. }), "{error}");
        let error = error.to_string();
        assert!(error.contains(&format!("{lost} is missing beside {left}")), "{error}");
        assert!(error.contains("kindsmith store restore"), "{error}");
        // The other remedy that the message names.
        fs::remove_file(scratch.0.join(left)).unwrap();
        assert_eq!(put(&scratch.open(Options::default()), "/a", "1"), Revision(1));
    }
}

#[cfg(unix)]
#[test]
fn the_directory_is_private() {
    use std::os::unix::fs::PermissionsExt;
    let scratch = Scratch::new();
    let mode = |name: &str| fs::metadata(scratch.0.join(name)).unwrap().permissions().mode() & 0o777;
    drop(scratch.open(Options::default()));
    assert_eq!(mode(""), 0o700);
    for name in ["LOCK", "FORMAT", "store.redb"] {
        assert_eq!(mode(name), 0o600, "{name}");
    }
    // Earlier versions created it with this mode.
    fs::set_permissions(scratch.0.join("store.redb"), fs::Permissions::from_mode(0o644)).unwrap();
    drop(scratch.open(Options::default()));
    assert_eq!(mode("store.redb"), 0o600);
}

#[test]
fn a_damaged_file_is_an_error_and_no_panic() {
    let scratch = Scratch::new();
    let store = scratch.open(Options::default());
    for number in 0..200 {
        put(&store, &format!("/{number}"), vec![b'x'; 500]);
    }
    drop(store);
    let file = scratch.0.join("store.redb");
    let whole = fs::read(&file).unwrap();
    for damage in [&b""[..], b"no store at all", &whole[..100], &whole[..4096], &whole[..whole.len() / 2]] {
        fs::write(&file, damage).unwrap();
        let Err(error) = Embedded::open(&scratch.0, Options::default()) else {
            panic!("opened {} bytes", damage.len())
        };
        assert!(matches!(error, OpenError::Damaged { .. }), "{error}");
    }
    fs::write(&file, &whole).unwrap();
    assert_eq!(scratch.open(Options::default()).range("/").unwrap().0.len(), 200);
}

#[test]
fn a_new_store_begins_after_its_origin_and_an_old_one_where_it_was() {
    let scratch = Scratch::new();
    let at = |origin| Options { origin: Revision(origin), ..Options::default() };
    let store = scratch.open(at(1_000));
    assert_eq!((store.head(), store.compacted()), (Revision(1_000), Revision(0)));
    store.compact(Revision(500)).unwrap();
    assert_eq!(put(&store, "/a", "1"), Revision(1_001));
    drop(store);
    let store = scratch.open(at(5_000));
    assert_eq!((store.head(), store.compacted()), (Revision(1_001), Revision(0)));
    // Nothing happened before the origin, so no history is missing there.
    assert_eq!(store.changes(Revision(1), 10).unwrap().len(), 1);
    store.compact(Revision(1_001)).unwrap();
    assert_eq!(store.compacted(), Revision(1_001));
    assert!(store.changes(Revision(1), 10).is_err());
}

#[test]
fn a_store_opens_without_a_reserve_if_its_file_cannot_be_opened() {
    let scratch = Scratch::new();
    put(&scratch.open(Options::default()), "/a", "1");
    let reserve = scratch.0.join("RESERVE");
    fs::remove_file(&reserve).unwrap();
    fs::create_dir(&reserve).unwrap();
    let store = scratch.open(Options::default());
    assert_eq!(put(&store, "/b", "1"), Revision(2));
    assert_eq!(store.health().refuses_writes, None);
}
