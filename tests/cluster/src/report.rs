//! The report: a line a round, everything about a round that fails, and the totals.
use std::{collections::BTreeMap, fs, path::PathBuf};

use crate::{
    Outcome,
    cluster::{Cluster, Shape},
    history::{Time, seconds},
    plan::Step,
    round::{Finding, panics},
};

/// How many lines of each kind of failure are printed.
const SHOWN: usize = 5;

#[derive(Default)]
pub(crate) struct Report {
    folder: PathBuf,
    /// Stale reads are asked for and must be found.
    stale_reads: bool,
    rounds: usize,
    failed: Vec<u64>,
    operations: usize,
    events: usize,
    faults: BTreeMap<String, usize>,
    compactions: usize,
    longest: Time,
}

/// The plan in one line.
pub(crate) fn texts(steps: &[Step]) -> String {
    steps.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

fn show(lines: &[String], what: &str) {
    for line in lines.iter().take(SHOWN) {
        println!("  {what}: {line}");
    }
    if lines.len() > SHOWN {
        println!("  {what}: {} more", lines.len() - SHOWN);
    }
}

impl Report {
    pub(crate) fn new(folder: &std::path::Path, stale_reads: bool) -> Self {
        Self { folder: folder.to_owned(), stale_reads, ..Self::default() }
    }

    /// Prints a round, and keeps its history if it failed.
    pub(crate) fn round(&mut self, seed: u64, steps: &[Step], finding: Finding, cluster: &mut Cluster) -> Outcome<()> {
        let Finding { history, violations, verdict, mut troubles, compactions } = finding;
        let ended = std::mem::take(&mut cluster.ended);
        let events: usize = history.watchers.iter().map(|watcher| watcher.steps.len()).sum();
        self.rounds += 1;
        self.operations += history.operations.len();
        self.events += events;
        self.compactions += compactions;
        self.longest = self.longest.max(verdict.longest);
        for step in steps {
            *self.faults.entry(format!("{:?}", step.fault)).or_default() += 1;
        }
        troubles.extend(self.panics()?);
        let failed = !violations.is_empty() || !verdict.late.is_empty() || !troubles.is_empty();
        println!(
            "seed {seed}: {}: {} operations, {events} events, {} failures, the last {} s after a quorum: {}",
            if failed { "FAILED" } else { "ok" },
            history.operations.len(),
            verdict.failures,
            seconds(verdict.longest),
            texts(steps),
        );
        show(&ended, "note");
        if failed {
            self.failed.push(seed);
            show(&troubles, "trouble");
            show(&verdict.late, "late");
            show(&violations.iter().map(ToString::to_string).collect::<Vec<_>>(), "violation");
            let path = self.folder.join(format!("history-{seed}.json"));
            fs::write(&path, serde_json::to_vec(&history)?)?;
            println!("  the history is in {}", path.display());
        }
        Ok(())
    }

    /// Panics in the logs of servers; a log with one is moved away, so that it is reported once.
    fn panics(&self) -> Outcome<Vec<String>> {
        let mut found = Vec::new();
        for number in 0..9 {
            let path = self.folder.join(format!("s{number}.log"));
            let Ok(log) = fs::read(&path) else { continue };
            let panics = panics(&String::from_utf8_lossy(&log));
            if !panics.is_empty() {
                fs::write(path.with_extension(format!("panicked-{}.log", self.rounds)), log)?;
                fs::File::options().write(true).open(&path)?.set_len(0)?;
            }
            found.extend(panics);
        }
        Ok(found)
    }

    /// Prints the totals; true if the run found what it should.
    pub(crate) fn end(&self, shape: &Shape) -> bool {
        let faults: Vec<_> = self.faults.iter().map(|(fault, count)| format!("{count} {fault}")).collect();
        println!("{} members, {} servers; faults: {}", shape.members, shape.servers, faults.join(", "));
        println!(
            "{} operations, {} events, {} compactions; requests failed at most {} s after a quorum stood",
            self.operations,
            self.events,
            self.compactions,
            seconds(self.longest)
        );
        if self.stale_reads {
            println!("stale reads were found in {} of {} rounds", self.failed.len(), self.rounds);
            return !self.failed.is_empty();
        }
        if !self.failed.is_empty() {
            println!("failed seeds: {:?}", self.failed);
        }
        println!("{} passed, {} failed", self.rounds - self.failed.len(), self.failed.len());
        self.failed.is_empty()
    }
}
