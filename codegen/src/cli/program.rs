//! Asks a program for the kinds that it declares: it writes them to a file, in place of serving. The environment variable
//! `KINDSMITH_EXPORT` names the file.

use std::{
    env,
    ffi::OsString,
    fs::{self, DirBuilder},
    io::{self, BufRead, BufReader},
    os::unix::fs::DirBuilderExt as _,
    path::{Path, PathBuf},
    process::{self, Child, Command, ExitStatus, Stdio},
    sync::mpsc,
    thread,
    time::{Duration, Instant, SystemTime},
};

use kindsmith_formats::files::{self, Limits};
use serde_json::Value;

use super::kinds::SizeLimit;

/// How long a program may take. It only reads its declarations.
const LONGEST: Duration = Duration::from_mins(1);
/// How large an export is at most, in bytes: several times that of all of Kubernetes.
const MOST: u64 = 256 << 20;
/// How often it is looked whether the program has ended.
const PAUSE: Duration = Duration::from_millis(20);
/// The environment variable that says another limit, in seconds.
const LIMIT: &str = "KINDSMITH_EXPORT_SECONDS";

/// The environment variable by which the derives read no lock, while a program is built.
const LOCK: &str = "KINDSMITH_LOCK";

const WAY_OUT: &str =
    "the program has to call `serve` or `build` of kindsmith's builder, and no other arguments can be given to it";

/// Runs a program, or the one of this folder, and returns what it wrote.
///
/// # Errors
/// A program that does not run, serves, takes too long, or writes something else.
pub(super) fn ask(program: Option<&Path>) -> Result<Value, String> {
    ask_built(program, &[])
}

/// Like [`ask`]. If it is built here, the derives compare it with no lock of Protobuf numbers.
///
/// # Errors
/// As [`ask`].
pub(super) fn ask_without_lock(program: Option<&Path>) -> Result<Value, String> {
    ask_built(program, &[(LOCK, "open")])
}

fn ask_built(program: Option<&Path>, settings: &[(&str, &str)]) -> Result<Value, String> {
    if let Some(program) = program {
        return asked(Command::new(program), &program.display().to_string());
    }
    let cargo = || {
        let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        cargo.envs(settings.iter().copied());
        cargo
    };
    // However long it takes: cargo prints its progress.
    let built = cargo().arg("build").stdin(Stdio::null()).stdout(Stdio::null()).status();
    let built = built.map_err(|error| format!("cargo build: {error}"))?;
    if !built.success() {
        return Err("cargo build failed, so that the program cannot be asked for its kinds; name a program with --program, or files".into());
    }
    let mut run = cargo();
    run.args(["run", "--quiet"]);
    asked(run, "cargo run")
}

/// Lets this command serve files, and returns what it exports in place of it.
///
/// # Errors
/// Everything that is wrong with the files.
pub(super) fn ask_about(files: &[OsString], max_file_size: SizeLimit) -> Result<Value, String> {
    let own = env::current_exe().map_err(|error| format!("the path of this program: {error}"))?;
    let mut command = Command::new(own);
    if env::var_os("RUST_LOG").is_none() {
        command.env("RUST_LOG", "warn");
    }
    // The settings of a deployment are not for this.
    for (name, _) in env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("KINDSMITH_")) {
        command.env_remove(name);
    }
    let size = max_file_size.to_string();
    command.arg("serve").args(["--memory", "--listen", "127.0.0.1:0", "--max-file-size", &size]).arg("--").args(files);
    asked(command, "kindsmith serve")
}

fn asked(mut command: Command, name: &str) -> Result<Value, String> {
    let folder = TemporaryFolder::new().map_err(|error| format!("a temporary folder: {error}"))?;
    let file = folder.0.join("export.json");
    // Its output is no part of the export.
    let child = command.env("KINDSMITH_EXPORT", &file).stdin(Stdio::null()).stdout(Stdio::piped()).spawn();
    let mut child = child.map_err(|error| format!("{name}: {error}"))?;
    let ended = ended(&mut child);
    let written = files::read(&file, &Limits::of_file(MOST));
    let ended = ended.map_err(|why| format!("{name} {why}, and was ended; {WAY_OUT}"))?;
    let written = match written {
        Ok(written) => written,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(format!("{name} ended ({ended}) without exporting its kinds; {WAY_OUT}"));
        }
        Err(error) => return Err(format!("what {name} exported cannot be read: {error}")),
    };
    serde_json::from_slice(&written).map_err(|error| format!("{name} wrote something else than its kinds: {error}"))
}

/// A folder of this process that no other user reads or writes. Its name may be guessed, but what is there already is not used.
struct TemporaryFolder(PathBuf);

impl TemporaryFolder {
    fn new() -> io::Result<Self> {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_nanos());
        let path = env::temp_dir().join(format!("kindsmith-export-{}-{now}", process::id()));
        DirBuilder::new().mode(0o700).create(&path)?;
        Ok(Self(path))
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        // A file in the temporary folder that stays is no error.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Waits until a program ends, and ends it if it serves or takes too long.
fn ended(child: &mut Child) -> Result<ExitStatus, String> {
    let seconds = env::var(LIMIT).ok().and_then(|text| text.parse().ok());
    let limit = seconds.map_or(LONGEST, Duration::from_secs);
    let (start, serves) = (Instant::now(), listens(child));
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Ok(status),
            Ok(None) => {}
            Err(error) => return Err(format!("cannot be waited for ({error})")),
        }
        let why = if serves.try_recv().is_ok() {
            "serves in place of exporting its kinds".to_owned()
        } else if start.elapsed() > limit {
            format!("exported nothing within {} s ({LIMIT} says another limit)", limit.as_secs())
        } else {
            thread::sleep(PAUSE);
            continue;
        };
        // A program that has just ended cannot be ended, and is waited for all the same.
        let _ = child.kill();
        let _ = child.wait();
        return Err(why);
    }
}

/// Reads what a program prints, and reports a line by which it says that it serves.
fn listens(child: &mut Child) -> mpsc::Receiver<()> {
    let (report, reported) = mpsc::channel();
    if let Some(out) = child.stdout.take() {
        thread::spawn(move || {
            for line in BufReader::new(out).lines().map_while(Result::ok) {
                if line.to_lowercase().contains("listening") {
                    // The receiver is gone if the program has ended.
                    let _ = report.send(());
                }
            }
        });
    }
    reported
}
