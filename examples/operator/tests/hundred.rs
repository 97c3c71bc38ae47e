//! A hundred tests, each with its own cluster, definitions and controller.
//!
//! `cargo test -p operator --test hundred -- --test-threads=100` runs all of them at the same time. The last one prints how many
//! seconds all have taken, how long a cluster took to start, and the peak of the program's memory; a test alone prints the same.
use std::{
    fs,
    io::Write,
    sync::{
        LazyLock, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

mod support;

use support::{Running, cluster, create, jobs, migrated, until_migrated};

static BEGAN: LazyLock<Instant> = LazyLock::new(Instant::now);
static STARTS: Mutex<Vec<Duration>> = Mutex::new(Vec::new());
static RUNNING: AtomicUsize = AtomicUsize::new(0);

/// A controller migrates three databases of its own cluster, in which there are no others, with a fault on the way.
async fn migrates_its_own(number: usize) {
    let began = Instant::now().max(*BEGAN);
    RUNNING.fetch_add(1, Ordering::Relaxed);
    let cluster = cluster().await;
    STARTS.lock().expect("no test panics with it").push(began.elapsed());
    let conflict = cluster.faults().conflict().on("patch", "databases.example.com/status").once();
    let _controller = Running::start(&cluster, operator::controller::run);
    // The same names as in the other clusters.
    for name in ["a", "b", "c"] {
        create(&cluster, name).await;
    }
    for name in ["a", "b", "c"] {
        until_migrated(&cluster, name).await;
    }
    assert_eq!((jobs(&cluster).await, conflict.count()), (3, 1), "test {number}");
    assert_eq!(migrated(&cluster, "a").await.as_deref(), Some("v1"));
    cluster.stop().await;
    if RUNNING.fetch_sub(1, Ordering::Relaxed) == 1 {
        report();
    }
}

/// Prints what was measured, past the capture of tests: at the end, and when for a moment no test was running.
fn report() {
    let mut starts = STARTS.lock().expect("no test panics with it").clone();
    starts.sort_unstable();
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("unknown").trim().to_owned();
    let (count, seconds) = (starts.len(), BEGAN.elapsed().as_secs_f64());
    let (fastest, median, slowest) = (starts[0], starts[count / 2], starts[count - 1]);
    let line = format!(
        "{count} clusters in {seconds:.1} s, peak memory {peak}; ready after {fastest:.0?} at best, {median:.0?} in the median, {slowest:.0?} \
         at worst\n"
    );
    let _ = std::io::stderr().write_all(line.as_bytes());
}

macro_rules! tests {
    ($($name:ident $number:literal)*) => { $(
        #[tokio::test]
        async fn $name() {
            migrates_its_own($number).await;
        }
    )* };
}

tests! {
    test_00 0 test_01 1 test_02 2 test_03 3 test_04 4 test_05 5 test_06 6 test_07 7 test_08 8 test_09 9
    test_10 10 test_11 11 test_12 12 test_13 13 test_14 14 test_15 15 test_16 16 test_17 17 test_18 18 test_19 19
    test_20 20 test_21 21 test_22 22 test_23 23 test_24 24 test_25 25 test_26 26 test_27 27 test_28 28 test_29 29
    test_30 30 test_31 31 test_32 32 test_33 33 test_34 34 test_35 35 test_36 36 test_37 37 test_38 38 test_39 39
    test_40 40 test_41 41 test_42 42 test_43 43 test_44 44 test_45 45 test_46 46 test_47 47 test_48 48 test_49 49
    test_50 50 test_51 51 test_52 52 test_53 53 test_54 54 test_55 55 test_56 56 test_57 57 test_58 58 test_59 59
    test_60 60 test_61 61 test_62 62 test_63 63 test_64 64 test_65 65 test_66 66 test_67 67 test_68 68 test_69 69
    test_70 70 test_71 71 test_72 72 test_73 73 test_74 74 test_75 75 test_76 76 test_77 77 test_78 78 test_79 79
    test_80 80 test_81 81 test_82 82 test_83 83 test_84 84 test_85 85 test_86 86 test_87 87 test_88 88 test_89 89
    test_90 90 test_91 91 test_92 92 test_93 93 test_94 94 test_95 95 test_96 96 test_97 97 test_98 98 test_99 99
}
