//! Damaged stores: reports, and salvaged data.

use std::{fs, path::Path};

use kindsmith::tools::{self, Salvage};
use kindsmith_tests::Random;

use crate::sample::{self, Sample, contents, expect, path};

/// A copy of a sample's directory, with its engine's file changed.
fn damaged(sample: &Sample, change: impl FnOnce(&mut Vec<u8>)) -> std::path::PathBuf {
    let dir = sample.beside("damaged");
    let _ = fs::remove_dir_all(&dir);
    fs::create_dir(&dir).unwrap();
    for name in ["FORMAT", "HEAD", "LOCK", "store.redb"] {
        fs::copy(sample.dir().join(name), dir.join(name)).unwrap();
    }
    let mut bytes = fs::read(dir.join("store.redb")).unwrap();
    change(&mut bytes);
    fs::write(dir.join("store.redb"), bytes).unwrap();
    dir
}

/// Salvages a store and checks the new one; returns the number of objects missing in it.
fn salvaged(sample: &Sample, dir: &Path, what: &str) -> Option<(Salvage, usize)> {
    let to = sample.beside("salvaged");
    let _ = fs::remove_dir_all(&to);
    let saved = match tools::salvage(dir, &to, &mut |_| {}) {
        Ok(saved) => saved,
        Err(error) => {
            assert!(error.is_damage(), "{what}: {error}");
            assert!(!to.exists(), "{what}");
            return None;
        }
    };
    let check = tools::check(&to, &mut |_| {}).unwrap();
    assert!(check.is_whole(), "{what}: {check:?}");
    let found = contents(&to);
    assert_eq!((found.head, found.entries.len() as u64), (saved.head, saved.objects), "{what}");
    let mut newest = sample.newest();
    for entry in &found.entries {
        let value = entry.value.clone().unwrap();
        if saved.uncertain.iter().any(|key| **key == *entry.key) {
            let written = sample
                .all
                .iter()
                .any(|c| (c.revision, &c.key, c.value.as_ref()) == (entry.revision, &entry.key, Some(&value)));
            assert!(written, "{what}: {} never had this value", entry.key);
        } else {
            assert_eq!(newest.get(&*entry.key), Some(&(entry.revision, value)), "{what}: {}", entry.key);
        }
        newest.remove(&*entry.key);
    }
    if saved.is_complete() {
        assert_eq!(found, contents(&sample.dir()), "{what}: nothing was lost");
    } else {
        assert!(
            saved.lost_rows > 0 || saved.unopened.is_some() || newest.keys().all(|key| saved.lost.contains(key)),
            "{what}: {saved:?}"
        );
        let head = sample.all.last().unwrap().revision;
        assert!(saved.head > head, "{what}: no revision is used twice");
    }
    Some((saved, newest.len()))
}

#[test]
fn a_flipped_bit_is_found_and_loses_at_most_one_object() {
    let mut random = Random::from_environment();
    let sample = sample::store(&mut random, 260, 1 << 30);
    let (mut found, mut lost) = (0, 0);
    for _ in 0..60 {
        let (mut at, bit) = (0, random.below(8));
        let dir = damaged(&sample, |bytes| {
            at = random.below(bytes.len());
            bytes[at] ^= 1 << bit;
        });
        let what = format!("bit {bit} of byte {at}");
        let whole = tools::check(&dir, &mut |_| {}).is_ok_and(|check| check.is_whole());
        let Some((saved, missing)) = salvaged(&sample, &dir, &what) else { panic!("{what}: nothing was salvaged") };
        assert!(missing <= 1, "{what}: {missing} objects are lost: {saved:?}");
        assert!(!whole || saved.is_complete(), "{what}: {saved:?}");
        found += usize::from(!whole);
        lost += missing;
    }
    println!("60 flips: {found} found damaged, {lost} objects lost");
}

#[test]
fn zeroed_pages_and_lost_ends_lose_only_their_content() {
    let mut random = Random::from_environment();
    let sample = sample::store(&mut random, 260, 1 << 30);
    let (mut kept, mut all) = (0, 0);
    for round in 0..30 {
        let dir = if round % 3 == 0 {
            damaged(&sample, |bytes| bytes.truncate(random.below(bytes.len())))
        } else {
            damaged(&sample, |bytes| {
                for _ in 0..=round % 4 {
                    let page = random.below(bytes.len() / 4096) * 4096;
                    bytes[page..page + 4096].fill(0);
                }
            })
        };
        all += sample.newest().len();
        if let Some((_, missing)) = salvaged(&sample, &dir, &format!("round {round}")) {
            kept += sample.newest().len() - missing;
        }
    }
    println!("30 damaged stores: {kept} of {all} objects kept");
    assert!(kept * 2 > all, "{kept} of {all}");
}

#[test]
fn a_damaged_object_is_named_by_check_and_by_salvage() {
    let sample = sample::store(&mut Random::from_environment(), 120, 0);
    let (key, (_, value)) = sample.newest().into_iter().max_by_key(|(_, (_, value))| value.len()).unwrap();
    let dir = damaged(&sample, |bytes| {
        let places: Vec<usize> = (0..bytes.len() - value.len())
            .filter(|at| bytes[*at..].starts_with(&value[..64.min(value.len())]))
            .collect();
        assert!(!places.is_empty());
        for at in places {
            bytes[at + 10] ^= 1;
        }
    });
    let (out, err) = expect(1, &[path("check"), &dir]);
    assert!(out.contains(": damaged\n") && out.contains(&format!("{key}: ")), "{out}");
    assert!(err.contains("kindsmith store salvage"), "{err}");
    let (_, err) = expect(1, &[path("backup"), &dir, path("--to"), &sample.beside("x.backup")]);
    assert!(err.contains("is damaged") && !sample.beside("x.backup").exists(), "{err}");
    let (out, _) = expect(1, &[path("salvage"), &dir, path("--to"), &sample.beside("new")]);
    assert!(out.contains(&format!("lost {key}\n")), "{out}");
    expect(0, &[path("check"), &sample.beside("new")]);
    assert_eq!(contents(&sample.beside("new")).entries.len(), sample.newest().len() - 1);
}

#[test]
fn a_store_that_the_engine_cannot_open_is_scanned_for_rows() {
    let sample = sample::store(&mut Random::from_environment(), 100, 1 << 30);
    let dir = damaged(&sample, |bytes| bytes[..320].fill(0xff));
    let (out, err) = expect(1, &[path("check"), &dir]);
    assert!(out.is_empty() && err.contains("is damaged"), "{out}{err}");
    let (saved, missing) = salvaged(&sample, &dir, "without its head").unwrap();
    assert!(saved.unopened.is_some() && missing == 0, "{saved:?}");
    assert_eq!(saved.uncertain.len() as u64, saved.objects, "deletions may come back, and every object is marked");
}
