//! Runs this program again in namespaces of its own: its processes and its network end with it, however it ends.
use std::{
    env,
    io::{self, Read},
    path::{Path, PathBuf},
    process::Stdio,
    thread,
};

use tokio::{
    process::Command,
    signal::unix::{SignalKind, signal},
};

use crate::Outcome;

/// A new folder for data and logs.
pub(crate) fn new_folder() -> Outcome<PathBuf> {
    let path = env::temp_dir().join(format!("kindsmith-cluster-{}", std::process::id()));
    std::fs::create_dir_all(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(path)
}

/// Runs this program with the same arguments inside, until it ends or this process gets a signal.
pub(crate) async fn run_inside(folder: &Path, seed: u64) -> Outcome<u8> {
    let mut command = Command::new("unshare");
    if !rustix::process::geteuid().is_root() {
        command.args(["--user", "--map-root-user"]);
    }
    command.args(["--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]);
    command.arg(env::current_exe()?).args(env::args_os().skip(1)).arg("--inside").arg(folder);
    command.arg(format!("--inside-seed={seed}"));
    // The program inside ends when this pipe does, as it does when this process is killed.
    let mut child = command.stdin(Stdio::piped()).kill_on_drop(true).spawn();
    let child = child.as_mut().map_err(|error| format!("unshare: {error}; it is in the package util-linux"))?;
    // Waiting would close it.
    let _pipe = child.stdin.take();
    let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    let status = tokio::select! {
        status = child.wait() => status?,
        _ = interrupt.recv() => return Err("interrupted".into()),
        _ = terminate.recv() => return Err("terminated".into()),
    };
    match status.code() {
        Some(code) => Ok(u8::try_from(code).unwrap_or(2)),
        None => Err(format!("the run ended by {status}").into()),
    }
}

/// Ends this process, and with it all others inside, when the one outside has ended.
pub(crate) fn end_with_outside() -> io::Result<()> {
    let watch = || {
        let _ = io::stdin().read_to_end(&mut Vec::new());
        std::process::exit(3);
    };
    thread::Builder::new().name("outside".into()).spawn(watch).map(drop)
}
