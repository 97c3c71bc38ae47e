//! The accepted counts in `counts.txt`, and their comparison with those of this build.
use std::{
    env::consts::ARCH,
    fmt::{self, Display, Write},
    fs,
    process::Command,
};

use crate::Outcome;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/counts.txt");

/// How far a count may be from the accepted one, in percent. Two runs of a program differ by less than half a percent, because
/// the seeds of hash maps do. The rest is for changes of no concern, such as a feature of a dependency that another package
/// needs.
const TOLERANCE: f64 = 3.0;
/// The same for counts that were accepted with another compiler: what is twice as slow still shows.
const TOLERANCE_OF_OTHER_COMPILER: f64 = 25.0;

/// What generates the instructions.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Toolchain {
    compiler: String,
    /// The architecture, and whether the code is optimized.
    target: String,
}

impl Toolchain {
    /// The one on this machine.
    pub(crate) fn present() -> Outcome<Self> {
        let output = Command::new("rustc").arg("--version").output().map_err(|error| format!("rustc: {error}"))?;
        let version = String::from_utf8(output.stdout)?;
        // The date and the commit say no more.
        let compiler = version.split_whitespace().take(2).collect::<Vec<_>>().join(" ");
        let profile = if cfg!(debug_assertions) { "dev" } else { "release" };
        Ok(Self { compiler, target: format!("{ARCH} {profile}") })
    }
}

/// The instructions of an operation of each path.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Counts {
    pub(crate) toolchain: Toolchain,
    pub(crate) counts: Vec<(String, u64)>,
}

impl Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Toolchain { compiler, target } = &self.toolchain;
        writeln!(f, "compiler: {compiler}\ntarget: {target}")?;
        self.counts.iter().try_for_each(|(name, count)| writeln!(f, "{name}: {count}"))
    }
}

impl Counts {
    /// Reads the accepted counts.
    pub(crate) fn read() -> Outcome<Self> {
        let text = fs::read_to_string(FILE).map_err(|error| format!("{FILE}: {error}"))?;
        Self::parse(&text).ok_or_else(|| format!("{FILE} cannot be read; write it with --update").into())
    }

    /// Replaces the accepted counts.
    pub(crate) fn write(&self) -> Outcome<()> {
        fs::write(FILE, self.to_string()).map_err(|error| format!("{FILE}: {error}").into())
    }

    fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines().map(|line| line.split_once(": "));
        let (_, compiler) = lines.next()??;
        let (_, target) = lines.next()??;
        let counts = lines.map(|line| line.and_then(|(name, count)| Some((name.to_owned(), count.parse().ok()?))));
        let toolchain = Toolchain { compiler: compiler.into(), target: target.into() };
        Some(Self { toolchain, counts: counts.collect::<Option<_>>()? })
    }
}

/// How the counts of a build compare with the accepted ones.
pub(crate) struct Comparison {
    /// The table for people.
    pub(crate) text: String,
    /// Whether all counts are within the tolerance.
    pub(crate) holds: bool,
}

/// Compares counts path by path. A count that fell is reported, too: unless the lower one is accepted, it may be lost again
/// without notice.
pub(crate) fn compare(accepted: &Counts, measured: &Counts) -> Outcome<Comparison> {
    let (then, now) = (&accepted.toolchain, &measured.toolchain);
    if then.target != now.target {
        return Err(format!("counts are accepted for {}, not for {}:\n{measured}", then.target, now.target).into());
    }
    let mut text = String::new();
    let mut tolerance = TOLERANCE;
    if then.compiler != now.compiler {
        tolerance = TOLERANCE_OF_OTHER_COMPILER;
        let _ = writeln!(
            text,
            "The counts were accepted with {}, this is {}: {tolerance}% are tolerated. Accept them again with --update.",
            then.compiler, now.compiler
        );
    }
    let _ = writeln!(text, "{:24}{:>14}{:>14}{:>10}", "instructions", "accepted", "now", "change");
    let (mut passed, mut failed) = (0, 0);
    let gone = accepted.counts.iter().filter(|(name, _)| measured.counts.iter().all(|(other, _)| other != name));
    for (name, count) in gone {
        failed += 1;
        let _ = writeln!(text, "{name:24}{count:>14}{:>14}{:>10}  FAILED: there is no such path", "-", "-");
    }
    for (name, count) in &measured.counts {
        let old = accepted.counts.iter().find(|(other, _)| other == name).map(|(_, count)| *count);
        let change = old.map(|old| change(old, *count));
        let verdict = match change {
            Some(change) if change.abs() <= tolerance => "",
            Some(change) if change > 0.0 => "  FAILED: more",
            Some(_) => "  FAILED: fewer",
            None => "  FAILED: not accepted yet",
        };
        *(if verdict.is_empty() { &mut passed } else { &mut failed }) += 1;
        let old = old.map_or("-".into(), |old| old.to_string());
        let change = change.map_or("-".into(), |change| format!("{change:+.1}%"));
        let _ = writeln!(text, "{name:24}{old:>14}{count:>14}{change:>10}{verdict}");
    }
    if failed > 0 {
        let _ = writeln!(text, "If the change is meant, accept the counts with --update, and say in the commit why.");
    }
    let _ = writeln!(text, "{passed} passed, {failed} failed");
    Ok(Comparison { text, holds: failed == 0 })
}

/// The change from an accepted count in percent.
#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
fn change(accepted: u64, measured: u64) -> f64 {
    (measured as f64 - accepted as f64) / accepted.max(1) as f64 * 100.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(counts: &[(&str, u64)]) -> Counts {
        let toolchain = Toolchain { compiler: "rustc 1.95.0".into(), target: "x86_64 dev".into() };
        Counts { toolchain, counts: counts.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect() }
    }

    #[test]
    fn the_file_has_what_is_measured() {
        let written = counts(&[("get", 10_000), ("list of 500", 900_000)]);
        assert_eq!(Counts::parse(&written.to_string()), Some(written));
        assert_eq!(Counts::parse("compiler: rustc 1.95.0\ntarget: x86_64 dev\nget: many\n"), None);
        assert_eq!(Counts::parse(""), None);
    }

    #[test]
    fn more_and_fewer_fail_beyond_the_tolerance() {
        let accepted = counts(&[("get", 1_000), ("list", 1_000), ("create", 1_000), ("apply", 1_000)]);
        let measured = counts(&[("get", 1_030), ("list", 1_031), ("create", 969), ("apply", 970)]);
        let comparison = compare(&accepted, &measured).unwrap();
        let line =
            |name: &str| comparison.text.lines().find(|line| line.starts_with(name)).unwrap().trim_end().to_owned();
        assert!(line("get").ends_with("+3.0%") && line("apply").ends_with("-3.0%"), "{}", comparison.text);
        assert!(line("list").ends_with("FAILED: more") && line("create").ends_with("FAILED: fewer"));
        assert!(comparison.text.ends_with("2 passed, 2 failed\n") && !comparison.holds);
        assert!(compare(&accepted, &accepted).unwrap().holds);
    }

    #[test]
    fn every_path_is_accepted_and_exists() {
        let comparison = compare(&counts(&[("gone", 1)]), &counts(&[("new", 1)])).unwrap();
        assert!(comparison.text.contains("there is no such path") && comparison.text.contains("not accepted yet"));
        assert!(comparison.text.ends_with("0 passed, 2 failed\n"), "{}", comparison.text);
    }

    #[test]
    fn another_compiler_widens_the_tolerance_and_another_target_is_refused() {
        let accepted = counts(&[("get", 1_000)]);
        let mut measured = counts(&[("get", 1_200)]);
        measured.toolchain.compiler = "rustc 1.96.0".into();
        let comparison = compare(&accepted, &measured).unwrap();
        assert!(comparison.holds && comparison.text.contains("accepted with rustc 1.95.0, this is rustc 1.96.0"));
        measured.counts[0].1 = 2_000;
        assert!(!compare(&accepted, &measured).unwrap().holds);
        measured.toolchain.target = "x86_64 release".into();
        assert!(compare(&accepted, &measured).err().unwrap().to_string().contains("not for x86_64 release"));
    }
}
