//! A server as a process of its own: started, killed, started again.

use std::{
    io::{BufRead, BufReader, Read},
    path::{Path, PathBuf},
    process::{Child, ChildStderr, ChildStdout, Command, Stdio},
};

/// A server's process. Killed when dropped.
pub struct ServerProcess {
    child: Child,
    /// The server's own temporary folder: a process that is killed leaves behind what it has there.
    _temporary: Folder,
    url: String,
    /// Held open for what it prints later.
    output: BufReader<ChildStdout>,
}

impl ServerProcess {
    /// Starts a program, and waits for its first line, which says where it listens.
    ///
    /// # Panics
    /// Where it does not start: the test cannot go on.
    pub fn start(program: impl AsRef<Path>, arguments: &[&str]) -> Self {
        Self::spawn(Command::new(program.as_ref()).args(arguments))
    }

    /// Starts a command, as [`Self::start`] does.
    ///
    /// # Panics
    /// Where it does not start.
    pub fn spawn(command: &mut Command) -> Self {
        let temporary = Folder::new("process");
        let child = command.env("TMPDIR", temporary.path()).stdin(Stdio::null()).stdout(Stdio::piped()).spawn();
        let mut child = child.unwrap_or_else(|error| panic!("{}: {error}", command.get_program().display()));
        let mut output = BufReader::new(child.stdout.take().expect("standard output is piped"));
        let mut line = String::new();
        output.read_line(&mut line).expect("a server's output can be read");
        let url = line.trim().strip_prefix("listening on ");
        let url = url.unwrap_or_else(|| panic!("the first line says where it listens, but was {line:?}")).to_owned();
        Self { child, _temporary: temporary, url, output }
    }

    /// Where it listens, such as `http://127.0.0.1:40123`.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The port.
    pub fn port(&self) -> u16 {
        self.url.rsplit(':').next().and_then(|port| port.parse().ok()).expect("the URL ends in a port")
    }

    /// Its standard error, once, if the command pipes it.
    pub fn errors(&mut self) -> Option<ChildStderr> {
        self.child.stderr.take()
    }

    /// Kills it, as `kill -9` does, and waits until it is gone.
    pub fn kill(mut self) {
        self.end();
    }

    /// Sends it a signal, such as `HUP`.
    pub fn signal(&self, name: &str) {
        let arguments = ["-s", name, &self.child.id().to_string()];
        let sent = Command::new("kill").args(arguments).status().expect("there is a kill command");
        assert!(sent.success(), "the server is there to get the signal");
    }

    /// Tells it to stop, as `kill` does; gives back whether it ended well, and the rest of what it printed.
    pub fn terminate(mut self) -> (bool, String) {
        self.signal("TERM");
        let mut rest = String::new();
        self.output.read_to_string(&mut rest).expect("a server prints text");
        (self.child.wait().expect("the server is our child").success(), rest)
    }

    /// Resident memory, in KiB.
    pub fn resident_kib(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        line.and_then(|rest| rest.trim().trim_end_matches(" kB").parse().ok()).expect("a running process has a size")
    }

    fn end(&mut self) {
        // It may have ended by itself; then there is nothing to kill, and waiting gives what there was.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        self.end();
    }
}

/// A folder for one test, empty at first, gone when dropped.
pub struct Folder(PathBuf);

impl Folder {
    /// Makes it.
    ///
    /// # Panics
    /// Where it cannot be made.
    pub fn new(name: &str) -> Self {
        let mut bytes = [0; 8];
        getrandom::fill(&mut bytes).expect("the operating system has random bytes");
        let path = std::env::temp_dir().join(format!("kindsmith-{name}-{:x}", u64::from_le_bytes(bytes)));
        std::fs::create_dir_all(&path).expect("the temporary folder takes a new one");
        Self(path)
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Its path as an argument of a command.
    pub fn text(&self) -> &str {
        self.0.to_str().expect("the tests' paths are text")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What is left of a temporary folder hurts no other test.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
