//! Runs this program under callgrind, and reads the counts that it writes.
use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::{
    Outcome,
    counts::{Counts, Toolchain},
    paths::PATHS,
};

/// The function whose calls are counted: callgrind starts at zero when it is entered and writes a file when it returns.
const MEASURED: &str = "instructions::paths::measured";

/// Counts the instructions of an operation of each path.
pub(crate) fn measure() -> Outcome<Counts> {
    let folder = Folder::new()?;
    let out = folder.0.join("counts");
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=callgrind", "--quiet"]);
    valgrind.arg(format!("--zero-before={MEASURED}")).arg(format!("--dump-after={MEASURED}"));
    valgrind.arg(format!("--callgrind-out-file={}", out.display())).arg(env::current_exe()?).arg("paths");
    let status = valgrind.stdin(Stdio::null()).status();
    let status = status.map_err(|error| format!("valgrind: {error}; install the package valgrind"))?;
    if !status.success() {
        return Err(format!("valgrind: {status}").into());
    }
    let count = |index: usize, operations: u64| {
        let path = out.with_extension((index + 1).to_string());
        let text = fs::read_to_string(&path)
            .map_err(|error| format!("{}: {error}: {MEASURED} was not found", path.display()))?;
        let total = total(&text).ok_or_else(|| format!("{} has no totals", path.display()))?;
        Outcome::Ok(total / operations)
    };
    let counts =
        PATHS.iter().enumerate().map(|(index, path)| Ok((path.name.to_owned(), count(index, path.operations)?)));
    Ok(Counts { toolchain: Toolchain::present()?, counts: counts.collect::<Outcome<_>>()? })
}

/// The number of instructions in a file of callgrind's.
fn total(text: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix("totals: "))?.trim().parse().ok()
}

/// A temporary folder, removed on drop.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Outcome<Self> {
        let path = env::temp_dir().join(format!("instructions-{}", std::process::id()));
        fs::create_dir(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(Self(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all::<&Path>(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_are_read() {
        assert_eq!(total("events: Ir\nsummary: 7\n\nfn=(1) main\n0 5\n\ntotals: 1234\n"), Some(1234));
        assert_eq!(total("events: Ir\n"), None);
    }
}
