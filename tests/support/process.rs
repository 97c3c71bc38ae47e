//! A server in a separate process: start, kill and restart.

use std::{
    io::{BufRead, BufReader, Read},
    path::{Path, PathBuf},
    process::{Child, ChildStderr, ChildStdout, Command, Stdio},
};

/// A server process. Killed on drop.
pub struct ServerProcess {
    child: Child,
    /// The server's temporary folder. A killed process leaves its content behind.
    _temporary: Folder,
    url: String,
    /// Held open for later output.
    output: BufReader<ChildStdout>,
}

impl ServerProcess {
    /// Starts a program, and waits for its first line, which contains its address.
    ///
    /// # Panics
    /// If it does not start.
    pub fn start(program: impl AsRef<Path>, arguments: &[&str]) -> Self {
        Self::spawn(Command::new(program.as_ref()).args(arguments))
    }

    /// Starts a command, like [`Self::start`].
    ///
    /// # Panics
    /// If it does not start.
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

    /// Its address, such as `http://127.0.0.1:40123`.
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

    /// Kills it with `kill -9`, and waits until it is gone.
    pub fn kill(mut self) {
        self.end();
    }

    /// Sends it a signal, such as `HUP`.
    pub fn signal(&self, name: &str) {
        let arguments = ["-s", name, &self.child.id().to_string()];
        let sent = Command::new("kill").args(arguments).status().expect("there is a kill command");
        assert!(sent.success(), "the server is there to get the signal");
    }

    /// Stops it with `kill`; returns whether it ended successfully, and the rest of its output.
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
        // It may have ended already; then waiting returns its status.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        self.end();
    }
}

/// A folder for one test, initially empty and removed on drop.
pub struct Folder(PathBuf);

impl Folder {
    /// Creates the folder.
    ///
    /// # Panics
    /// If it cannot be created.
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
        // A remaining temporary folder does not affect other tests.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
