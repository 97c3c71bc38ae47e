//! Crash tests of the durable store: kill -9 under writers, a file that may not grow, a damaged file. Each test starts
//! this program again as a child that writes until it is stopped, then opens the child's store and compares it with the
//! answers that the child recorded.
//!
//! `KINDSMITH_CRASH_ROUNDS` sets how often the child is killed; a few times by default.

#![allow(clippy::unwrap_used, reason = "all of it is a test; only functions marked as tests are exempt by themselves")]

mod child;
mod model;

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use kindsmith_storage::{Embedded, OpenError, Options, Store};

use self::{child::Mode, model::Verified};

/// A temporary directory: `data` is the store's, `acks` and `seen` are the child's records.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let dir = env::temp_dir().join(format!("kindsmith-crash-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&dir);
        fs::create_dir_all(&dir).unwrap();
        Self(dir)
    }

    fn data(&self) -> PathBuf {
        self.0.join("data")
    }

    fn open(&self) -> Result<Embedded, OpenError> {
        Embedded::open(self.data(), Options::default())
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if !thread::panicking() {
            let _ = fs::remove_dir_all(&self.0);
        }
    }
}

fn start(scratch: &Scratch, mode: Mode) -> Child {
    let mut command = match mode {
        // The limit is in blocks of 512 bytes. Its signal would end the child before it could handle the error.
        Mode::FullDisk => {
            let mut command = Command::new("sh");
            command.args(["-c", "trap '' XFSZ; ulimit -f 8192; exec \"$0\" \"$@\""]).arg(env::current_exe().unwrap());
            command
        }
        _ => Command::new(env::current_exe().unwrap()),
    };
    command
        .args(["--ignored", "--exact", "child::works", "--nocapture"])
        .env(child::DIR, &scratch.0)
        .env(child::MODE, mode.name())
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

/// Waits until the child has recorded more than before.
fn await_growth(path: &Path, from: u64) {
    let start = Instant::now();
    while fs::metadata(path).map_or(0, |metadata| metadata.len()) <= from {
        assert!(start.elapsed() < Duration::from_mins(1), "the child has not begun to work");
        thread::sleep(Duration::from_millis(1));
    }
}

/// Lets the child work for a random time, then kills it.
fn kill_at_random(scratch: &Scratch, mode: Mode, random: &mut model::Random) {
    let acks = scratch.0.join("acks");
    let before = fs::metadata(&acks).map_or(0, |metadata| metadata.len());
    let mut child = start(scratch, mode);
    await_growth(&acks, before);
    thread::sleep(Duration::from_millis(random.below(250)));
    child.kill().unwrap();
    child.wait().unwrap();
}

fn rounds() -> u64 {
    env::var("KINDSMITH_CRASH_ROUNDS").ok().map_or(8, |text| text.parse().expect("a number of rounds"))
}

/// A slow machine may need more rounds.
fn killed_again_and_again(mode: Mode, enough: impl Fn(&Verified) -> bool) -> Verified {
    let scratch = Scratch::new(mode.name());
    let mut random = model::Random::from_clock();
    let mut verified = Verified::default();
    let (began, mut round) = (Instant::now(), 0);
    while round < rounds() || !enough(&verified) && began.elapsed() < Duration::from_mins(2) {
        round += 1;
        kill_at_random(&scratch, mode, &mut random);
        let start = Instant::now();
        let store = scratch.open().unwrap();
        let opened = start.elapsed();
        verified = model::verify(&scratch.0, &store);
        println!("{} round {round}: opened in {opened:.1?}, {verified:?}", mode.name());
    }
    verified
}

#[test]
fn killed_writers_lose_nothing_that_was_acknowledged() {
    let enough = |verified: &Verified| verified.acknowledged > 100;
    let verified = killed_again_and_again(Mode::Write, enough);
    assert!(enough(&verified), "{verified:?}");
    assert_eq!(verified.compacted, 0);
    assert!(verified.seen > verified.acknowledged && verified.head >= verified.seen as u64, "{verified:?}");
}

#[test]
fn killed_while_history_is_compacted() {
    let enough = |verified: &Verified| verified.compacted > 0;
    let verified = killed_again_and_again(Mode::Cut, enough);
    assert!(enough(&verified), "{verified:?}");
}

#[test]
fn a_full_disk_loses_nothing_that_was_acknowledged_and_heals() {
    let scratch = Scratch::new("full");
    let status = start(&scratch, Mode::FullDisk).wait().unwrap();
    assert!(status.success(), "the child did not find the disk full as it should: {status}");
    let verified = model::verify(&scratch.0, &scratch.open().unwrap());
    assert!(verified.acknowledged > 10, "{verified:?}");
    // With free space again, the next child continues where this one stopped.
    kill_at_random(&scratch, Mode::Write, &mut model::Random::from_clock());
    let after = model::verify(&scratch.0, &scratch.open().unwrap());
    assert!(after.acknowledged > verified.acknowledged, "{after:?}");
}

#[test]
fn a_second_process_is_refused() {
    let scratch = Scratch::new("second");
    let mut child = start(&scratch, Mode::Write);
    await_growth(&scratch.0.join("acks"), 0);
    let Err(error) = scratch.open() else { panic!("opened a directory in use") };
    assert!(matches!(error, OpenError::InUse { .. }), "{error}");
    child.kill().unwrap();
    child.wait().unwrap();
    scratch.open().unwrap();
}

/// Damage that a crash cannot cause, but a bad disk can: the store may refuse to open, or return an earlier state, but
/// it must not panic, and what it returns must be intact.
#[test]
fn a_damaged_file_is_refused_or_whole() {
    let scratch = Scratch::new("damaged");
    let mut random = model::Random::from_clock();
    kill_at_random(&scratch, Mode::Write, &mut random);
    let file = scratch.data().join("store.redb");
    let whole = fs::read(&file).unwrap();
    for round in 0..12 {
        let mut damaged = whole.clone();
        if round % 3 == 0 {
            damaged.truncate(whole.len() - usize::try_from(random.below(whole.len() as u64 / 2)).unwrap());
        } else {
            let from = usize::try_from(random.below(whole.len() as u64)).unwrap();
            let to = (from + 1 + usize::try_from(random.below(10_000)).unwrap()).min(whole.len());
            damaged[from..to].fill(0xa5);
        }
        fs::write(&file, damaged).unwrap();
        match scratch.open() {
            Err(error) => println!("round {round}: {error}"),
            Ok(store) => {
                model::verify_whole(&store);
                println!("round {round}: opened, head {}", store.head());
            }
        }
    }
}
