//! A server that the load tool starts, on an empty data directory, and what a process has used.
use std::{
    fs,
    io::{BufRead, BufReader},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    process::{Child, ChildStdout, Command, Stdio},
    sync::atomic::{AtomicU32, Ordering},
};

use crate::{Outcome, kubeconfig, target::Access};

const TOKEN: &str = "load-token";
/// The flags of `conformance-server`. The server runs in an empty directory, so these names are relative to that.
pub(crate) const FLAGS: &str = "--listen 127.0.0.1:0 --data-dir data --token-file tokens.csv";

/// A running server. It is stopped, and its data are removed, on drop.
pub(crate) struct Program {
    child: Child,
    folder: PathBuf,
    /// Held open for later output.
    output: BufReader<ChildStdout>,
    pub(crate) access: Access,
}

impl Program {
    /// Starts a program and waits for its first line, `listening on URL`.
    pub(crate) fn start(path: &Path, flags: &str) -> Outcome<Self> {
        let program = fs::canonicalize(path).map_err(|e| format!("{}: {e}", path.display()))?;
        let folder = new_folder()?;
        match Self::start_in(&program, flags, &folder) {
            Ok(started) => Ok(started),
            Err(error) => {
                let _ = fs::remove_dir_all(&folder);
                Err(format!("{} {flags}: {error}", path.display()).into())
            }
        }
    }

    fn start_in(program: &Path, flags: &str, folder: &Path) -> Outcome<Self> {
        let tokens = folder.join("tokens.csv");
        let mut options = fs::OpenOptions::new();
        let mut file = options.write(true).create_new(true).mode(0o600).open(tokens)?;
        std::io::Write::write_all(&mut file, format!("{TOKEN},admin,admin,\"system:masters\"\n").as_bytes())?;
        let mut command = Command::new(program);
        command.args(flags.split_whitespace()).current_dir(folder).stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = command.spawn()?;
        let output = child.stdout.take().ok_or("its output is not piped")?;
        let mut started =
            Self { child, folder: folder.to_owned(), output: BufReader::new(output), access: Access::default() };
        let mut line = String::new();
        started.output.read_line(&mut line)?;
        let url = line.trim().strip_prefix("listening on ");
        let url = url.ok_or_else(|| format!("its first line is not \"listening on URL\" but {line:?}"))?;
        let kubeconfig = folder.join("data/kubeconfig");
        started.access = if url.starts_with("https:") && kubeconfig.exists() {
            kubeconfig::read(&kubeconfig)?
        } else {
            Access { url: url.to_owned(), token: Some(TOKEN.into()), ..Access::default() }
        };
        Ok(started)
    }

    /// The process.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // It may have ended already; then waiting returns its status.
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// A new folder below the temporary one.
fn new_folder() -> Outcome<PathBuf> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let path = std::env::temp_dir().join(format!("load-{}-{number}", std::process::id()));
    fs::create_dir(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    Ok(path)
}

/// The CPU time that a process has used, user and system, in microseconds.
pub(crate) fn cpu_us(pid: u32) -> Outcome<u64> {
    let path = format!("/proc/{pid}/stat");
    let text = fs::read_to_string(&path).map_err(|e| format!("{path}: {e}"))?;
    let fields = text.rsplit_once(')').map(|(_, rest)| rest.split_whitespace());
    let times: Vec<u64> =
        fields.into_iter().flatten().skip(11).take(2).filter_map(|ticks| ticks.parse().ok()).collect();
    // The kernel reports ticks of a hundredth of a second.
    Ok(times.iter().sum::<u64>() * 10_000)
}

/// The resident memory of a process, in KiB.
pub(crate) fn resident_kib(pid: u32) -> Outcome<u64> {
    let path = format!("/proc/{pid}/status");
    let text = fs::read_to_string(&path).map_err(|e| format!("{path}: {e}"))?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    Ok(line.ok_or_else(|| format!("{path} has no VmRSS"))?.trim().trim_end_matches(" kB").parse()?)
}
