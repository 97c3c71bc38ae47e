//! Help, usage, and errors that name the file and a remedy.

use kindsmith_tests::{Folder, Random};

use crate::sample::{self, expect, files, path};

#[test]
fn help_has_examples_and_exit_codes() {
    let (out, _) = expect(0, &[path("--help")]);
    assert!(out.contains("Exit codes:") && out.contains("salvage"), "{out}");
    for verb in ["check", "salvage", "backup", "restore", "copy", "migrate"] {
        let (out, _) = expect(0, &[path(verb), path("--help")]);
        assert!(out.contains(&format!("Example:\n  kindsmith store {verb} ")), "{out}");
    }
}

#[test]
fn wrong_usage_and_missing_stores_have_their_own_exit_code() {
    let folder = Folder::new("store");
    expect(2, &[path("check")]);
    expect(2, &[path("backup"), folder.path()]);
    let (_, err) = expect(2, &[path("check"), folder.path()]);
    assert!(err.contains("there is no store in") && err.contains(folder.text()), "{err}");
    let missing = folder.path().join("missing");
    for arguments in [vec![path("check"), &missing], vec![path("restore"), &missing, path("--to"), path("x")]] {
        let (_, err) = expect(2, &arguments);
        assert!(err.contains("missing") && err.contains("No such file"), "{err}");
    }
}

#[test]
fn a_check_of_an_intact_store_passes_and_changes_nothing() {
    let sample = sample::store(&mut Random::from_environment(), 150, 1 << 20);
    let before = files(&sample.dir());
    let (out, err) = expect(0, &[path("check"), &sample.dir()]);
    assert!(out.contains(": whole\n") && out.contains(" rows read, "), "{out}");
    assert!(!out.contains('\x1b') && err.is_empty(), "neither colours nor progress where there is no terminal: {err}");
    assert_eq!(files(&sample.dir()), before);
}

#[test]
fn the_store_of_a_killed_server_is_checked_and_backed_up_unchanged() {
    let sample = sample::store(&mut Random::from_environment(), 0, 1 << 20);
    let running = kindsmith_storage::Embedded::open(sample.dir(), kindsmith_storage::Options::default()).unwrap();
    sample::fill(&running, &mut Random::from_environment(), 80);
    // The directory as if the server had been killed now.
    let killed = sample.beside("killed");
    std::fs::create_dir(&killed).unwrap();
    for name in ["FORMAT", "HEAD", "LOCK", "store.redb"] {
        std::fs::copy(sample.dir().join(name), killed.join(name)).unwrap();
    }
    let before = files(&killed);
    let (out, _) = expect(0, &[path("check"), &killed]);
    assert!(out.contains("the server was killed"), "{out}");
    expect(0, &[path("backup"), &killed, path("--to"), &sample.beside("a.backup")]);
    expect(0, &[path("salvage"), &killed, path("--to"), &sample.beside("salvaged")]);
    assert_eq!(files(&killed), before);
    drop(running);
    assert_eq!(sample::contents(&sample.beside("salvaged")), sample::contents(&sample.dir()));
}
