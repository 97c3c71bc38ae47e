//! Opening a directory: whose it is, what it may look like, and what is refused.

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
    fs::write(scratch.0.join("FORMAT"), "2\n").unwrap();
    let Err(error) = Embedded::open(&scratch.0, Options::default()) else { panic!("opened") };
    assert!(matches!(error, OpenError::NewerFormat { found: 2, known: 1, .. }), "{error}");
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
    let scratch = Scratch::new();
    drop(scratch.open(Options::default()));
    fs::rename(scratch.0.join("store.redb"), scratch.0.join("store.redb.new")).unwrap();
    fs::write(scratch.0.join("store.redb.new"), "half a file").unwrap();
    let store = scratch.open(Options::default());
    assert_eq!(put(&store, "/a", "1"), Revision(1));
}

#[cfg(unix)]
#[test]
fn the_directory_is_private() {
    use std::os::unix::fs::PermissionsExt;
    let scratch = Scratch::new();
    let _store = scratch.open(Options::default());
    assert_eq!(fs::metadata(&scratch.0).unwrap().permissions().mode() & 0o777, 0o700);
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
    assert_eq!(scratch.open(Options::default()).range("/", None).unwrap().0.len(), 200);
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
    // Nothing happened before the origin, so nothing from there is forgotten.
    assert_eq!(store.changes(Revision(1), 10).unwrap().len(), 1);
    assert!(store.range("/", Some(Revision(1))).unwrap().0.is_empty());
    store.compact(Revision(1_001)).unwrap();
    assert_eq!(store.compacted(), Revision(1_001));
    assert!(store.changes(Revision(1), 10).is_err());
}
