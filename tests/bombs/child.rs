//! A server in a separate process.
use std::{
    fs,
    io::{BufRead, BufReader, Read, stdin},
    process::{self, ChildStdin, Command, Stdio},
    time::{Duration, Instant},
};

use kindsmith::Server;
use kindsmith_tests::Folder;

use crate::sample::Sample;

/// The process, ended on drop.
pub(crate) struct Child {
    pub url: String,
    pub token: String,
    process: process::Child,
    started: Instant,
    _stdin: Option<ChildStdin>,
    /// The server's temporary folder. A killed process leaves its content behind.
    _temporary: Folder,
}

#[test]
#[ignore = "the other tests run it in a process of its own"]
fn serves() {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
    let server = runtime.block_on(Server::test().kind::<Sample>().start());
    println!("listening on {} {}", server.url(), server.token());
    // Until the parent ends.
    let _ = stdin().read_to_end(&mut Vec::new());
    process::exit(0);
}

impl Child {
    pub(crate) fn start() -> Self {
        let (program, temporary) = (std::env::current_exe().expect("this program"), Folder::new("bombs"));
        let mut process = Command::new(program)
            .args(["--ignored", "--exact", "child::serves", "--nocapture", "--test-threads=1"])
            .env("TMPDIR", temporary.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a process");
        let lines = BufReader::new(process.stdout.take().expect("it is piped")).lines();
        let mut lines = lines.map(|line| line.expect("a line of text"));
        let line =
            lines.find_map(|line| Some(line.split_once("listening on ")?.1.to_owned())).expect("where it listens");
        let (url, token) = line.split_once(' ').expect("a URL and a token");
        let stdin = process.stdin.take();
        let (url, token, started) = (url.to_owned(), token.to_owned(), Instant::now());
        Self { url, token, process, started, _stdin: stdin, _temporary: temporary }
    }

    fn status_kib(&self, name: &str) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.process.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|rest| rest.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
    }

    /// Its CPU time, or wall time if the system does not report it.
    pub(crate) fn processor_time(&self) -> Duration {
        let threads = fs::read_dir(format!("/proc/{}/task", self.process.id())).into_iter().flatten().flatten();
        let of_thread = |thread: fs::DirEntry| -> Option<Duration> {
            let told = fs::read_to_string(thread.path().join("schedstat")).ok()?;
            told.split(' ').next()?.parse().ok().map(Duration::from_nanos)
        };
        let told: Duration = threads.filter_map(of_thread).sum();
        if told.is_zero() { self.started.elapsed() } else { told }
    }

    /// Starts to measure the peak of memory; returns the current use.
    pub(crate) fn forget_peak(&self) -> u64 {
        // Without such a counter, no peak is found.
        let _ = fs::write(format!("/proc/{}/clear_refs", self.process.id()), "5");
        self.status_kib("VmRSS:")
    }

    /// The peak of memory.
    pub(crate) fn peak_kib(&self) -> u64 {
        self.status_kib("VmHWM:")
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
