//! A member of etcd on loopback, for tests. Only std is used: the library's own tests include this file.

use std::{
    env, fs,
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicUsize, Ordering},
    thread,
    time::{Duration, Instant},
};

/// How long a member may take to start.
const STARTED_WITHIN: Duration = Duration::from_secs(30);

/// Finds etcd: the program that the variable `KINDSMITH_ETCD` names, or the one on the path. `None`, with a message on
/// standard error, if it is missing.
///
/// # Panics
/// If it is missing, and this is CI.
#[must_use]
pub fn program() -> Option<PathBuf> {
    let named = env::var_os("KINDSMITH_ETCD").map(PathBuf::from);
    let path = env::var_os("PATH").unwrap_or_default();
    let found = named.or_else(|| env::split_paths(&path).map(|dir| dir.join("etcd")).find(|file| file.is_file()));
    if found.is_none() {
        assert!(env::var("CI").as_deref() != Ok("true"), "there is no etcd: apt-get install etcd-server");
        eprintln!("NOT RUN: there is no etcd on the path; install it (Debian: etcd-server) to run this test");
    }
    found
}

/// A member that is a cluster of its own, with its data in a temporary directory. It ends, and its data goes, on drop.
pub struct Member {
    program: PathBuf,
    arguments: Vec<String>,
    dir: PathBuf,
    scheme: &'static str,
    ports: [u16; 3],
    child: Option<Child>,
}

impl Member {
    /// Starts a member; see [`program`].
    #[must_use]
    pub fn start() -> Option<Self> {
        Self::start_with("http", &[])
    }

    /// Starts a member whose clients use a scheme, with more arguments. It does not wait for the disk, if its version allows
    /// that.
    #[must_use]
    pub fn start_with(scheme: &'static str, arguments: &[&str]) -> Option<Self> {
        let help = Command::new(program()?).arg("--help").output().expect("etcd's help");
        let is_known = [help.stdout, help.stderr].concat().windows(15).any(|part| part == b"unsafe-no-fsync");
        Self::start_durable(scheme, &[arguments, if is_known { &["--unsafe-no-fsync"] } else { &[] }].concat())
    }

    /// Starts a member that waits for the disk, as in production.
    #[must_use]
    pub fn start_durable(scheme: &'static str, arguments: &[&str]) -> Option<Self> {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let program = program()?;
        let name = format!("kindsmith-etcd-{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        let arguments = arguments.iter().map(|&argument| argument.to_owned()).collect();
        let dir = env::temp_dir().join(name);
        let _ = fs::remove_dir_all(&dir);
        let mut member = Self { program, arguments, dir, scheme, ports: free_ports(), child: None };
        while !member.run() {
            // Another process took a port.
            member.ports = free_ports();
        }
        Some(member)
    }

    /// The URL for clients.
    #[must_use]
    pub fn url(&self) -> String {
        format!("{}://127.0.0.1:{}", self.scheme, self.ports[0])
    }

    /// The directory with the member's data.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The process.
    ///
    /// # Panics
    /// If it was killed.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.child.as_ref().expect("a running member").id()
    }

    /// Kills the member (SIGKILL).
    pub fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    /// Starts the member again after [`Member::kill`].
    pub fn restart(&mut self) {
        self.kill();
        assert!(self.run(), "the member does not start again");
    }

    /// Stops the process (SIGSTOP), and waits until all its threads stand still: the signal alone does not wait for them.
    pub fn stop(&self) {
        self.signal("STOP");
        let start = Instant::now();
        let stands = |stat: &Path| fs::read_to_string(stat).is_ok_and(|stat| stat.contains(") T "));
        let threads = || fs::read_dir(format!("/proc/{}/task", self.id())).into_iter().flatten().flatten();
        while !threads().all(|thread| stands(&thread.path().join("stat"))) {
            assert!(start.elapsed() < Duration::from_secs(10), "the member does not stop");
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// Lets a stopped process go on.
    pub fn resume(&self) {
        self.signal("CONT");
    }

    fn signal(&self, name: &str) {
        let status = Command::new("sh").args(["-c", &format!("kill -{name} {}", self.id())]).status();
        assert!(status.is_ok_and(|status| status.success()), "the member did not get SIG{name}");
    }

    /// Runs etcdctl on the member, and returns what it prints.
    pub fn control(&self, arguments: &[&str]) -> String {
        let mut command = Command::new("etcdctl");
        command.env("ETCDCTL_API", "3").arg(format!("--endpoints={}", self.url())).args(arguments);
        let done = command.output().expect("etcdctl runs (Debian: etcd-client)");
        assert!(done.status.success(), "etcdctl {arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8_lossy(&done.stdout).into_owned()
    }

    /// Starts the process. False if it ends before it serves.
    fn run(&mut self) -> bool {
        let [client, peer, metrics] = self.ports;
        let (client, peer) = (format!("{}://127.0.0.1:{client}", self.scheme), format!("http://127.0.0.1:{peer}"));
        fs::create_dir_all(&self.dir).expect("a temporary directory");
        let log = fs::File::create(self.dir.join("log")).expect("a log");
        let mut command = Command::new(&self.program);
        command.arg("--data-dir").arg(self.dir.join("data")).args(["--name", "a", "--logger", "zap"]);
        command.args(["--listen-client-urls", &client, "--advertise-client-urls", &client]);
        command.args(["--listen-peer-urls", &peer, "--initial-advertise-peer-urls", &peer]);
        command.args(["--initial-cluster", &format!("a={peer}")]);
        command.args(["--listen-metrics-urls", &format!("http://127.0.0.1:{metrics}")]).args(&self.arguments);
        // A machine of another kind than amd64 needs this for 3.4.
        command.env("ETCD_UNSUPPORTED_ARCH", env::consts::ARCH.replace("aarch64", "arm64"));
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).spawn().expect("etcd starts");
        let (child, start) = (self.child.insert(child), Instant::now());
        while !is_healthy(metrics) {
            if child.try_wait().expect("the state of etcd").is_some() {
                return false;
            }
            assert!(start.elapsed() < STARTED_WITHIN, "etcd does not serve; see {}", self.dir.join("log").display());
            thread::sleep(Duration::from_millis(20));
        }
        true
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        self.kill();
        let _ = fs::remove_dir_all(&self.dir);
    }
}

/// Ports that were free a moment ago.
fn free_ports() -> [u16; 3] {
    let sockets = [(); 3].map(|()| TcpListener::bind("127.0.0.1:0").expect("a free port"));
    sockets.map(|socket| socket.local_addr().expect("its address").port())
}

/// True if the member has a leader and can write.
fn is_healthy(port: u16) -> bool {
    let Ok(mut socket) = TcpStream::connect(("127.0.0.1", port)) else { return false };
    let mut answer = String::new();
    let _ = socket.set_read_timeout(Some(Duration::from_secs(2)));
    let asked = socket.write_all(b"GET /health HTTP/1.1\r\nHost: etcd\r\nConnection: close\r\n\r\n");
    asked.is_ok() && socket.read_to_string(&mut answer).is_ok() && answer.contains("\"health\":\"true\"")
}
