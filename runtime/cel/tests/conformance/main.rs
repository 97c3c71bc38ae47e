//! The published cases of the language (google/cel-spec), which lie beside the project in `../shared/cel`, or in the folder `cel` of
//! `$KINDSMITH_SHARED`.
//!
//! `left_out.tsv` has the cases that do not pass, each with its reason. A case in it that passes fails the test, so that it hides nothing.
use std::{
    collections::BTreeMap,
    fmt::Write as _,
    io::Write as _,
    path::{Path, PathBuf},
};

mod case;
mod environment;
mod types;
mod values;

use case::Case;

/// Evaluation in debug builds takes more of the stack than test threads have.
const STACK: usize = 8 << 20;

/// The folder of the cases. Where it is missing, `None`, which standard error says even if the test passes, or in CI a failure.
fn folder() -> Option<PathBuf> {
    let shared = std::env::var_os("KINDSMITH_SHARED").map(PathBuf::from);
    let shared = shared.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"));
    let folder = shared.join("cel");
    if folder.exists() {
        return Some(folder);
    }
    assert!(std::env::var_os("CI").is_none_or(|ci| ci != "true"), "{} is missing", folder.display());
    // Not `eprintln!`, whose output is shown only of tests that fail.
    writeln!(std::io::stderr(), "NOT RUN: {} is missing", folder.display()).expect("standard error");
    None
}

/// The cases that are left out: `file/section/name` or `file/section/*` or `file/*`, and the reason.
fn left_out() -> Vec<(&'static str, &'static str)> {
    let lines = include_str!("left_out.tsv").lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(|line| line.split_once('\t').expect("a case and a reason")).collect()
}

fn covers(pattern: &str, case: &str) -> bool {
    pattern == case || pattern.strip_suffix('*').is_some_and(|beginning| case.starts_with(beginning))
}

#[test]
fn published_cases_pass() {
    let Some(folder) = folder() else { return };
    let cases = case::read(&folder);
    let run = move || report(&cases);
    let run = std::thread::Builder::new().stack_size(STACK).spawn(run).expect("a thread");
    let problems = run.join().expect("no panic");
    assert!(problems.is_empty(), "{problems}");
}

/// Runs all cases, prints a line for each file, and returns what is wrong.
fn report(cases: &[Case]) -> String {
    let left_out = left_out();
    let mut used = vec![false; left_out.len()];
    let mut problems = String::new();
    let mut files: BTreeMap<&str, [usize; 2]> = BTreeMap::new();
    for case in cases {
        let name = case.to_string();
        let entry = left_out.iter().position(|(pattern, _)| covers(pattern, &name));
        let result = environment::run(case);
        let counts = files.entry(&case.file).or_default();
        counts[usize::from(result.is_err())] += 1;
        match (entry, result) {
            (Some(entry), Ok(())) => {
                used[entry] = true;
                writeln!(problems, "{name} passes, but is left out: {}", case.expr).expect("a string");
            }
            (Some(entry), Err(_)) => used[entry] = true,
            (None, Ok(())) => {}
            (None, Err(error)) => writeln!(problems, "{name}: {error}: {}", case.expr).expect("a string"),
        }
    }
    for (file, [passed, failed]) in files {
        println!("{file}: {passed} passed, {failed} left out or failed");
    }
    for ((pattern, _), _) in left_out.iter().zip(used).filter(|(_, used)| !used) {
        writeln!(problems, "{pattern} is left out, but there is no such case").expect("a string");
    }
    problems
}
