//! A server as a separate process in an empty folder. It uses the same port again after a restart.

use std::{
    fs::{File, create_dir_all, read_to_string, remove_dir_all},
    net::TcpListener,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use kube::{
    Client, Config,
    config::{KubeConfigOptions, Kubeconfig},
};
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::{Child, Command},
    time::timeout,
};

use crate::Failure;

/// The maximum time to start and to stop.
const PATIENCE: Duration = Duration::from_secs(30);

/// A server. Killed on drop, and its folder removed.
pub struct Server {
    program: PathBuf,
    arguments: Vec<String>,
    folder: PathBuf,
    address: String,
    running: Option<Child>,
}

impl Server {
    /// Starts the program in an empty folder that has this name, with the arguments for an address.
    pub async fn start(program: &Path, name: &str, arguments: impl Fn(&str) -> Vec<String>) -> Result<Self, Failure> {
        let program = program.canonicalize().map_err(|error| format!("{}: {error}", program.display()))?;
        let folder = std::env::temp_dir().join(format!("kindsmith-kube-{name}-{}", std::process::id()));
        create_dir_all(&folder)?;
        let address = free_address()?;
        let mut server = Self { program, arguments: arguments(&address), folder, address, running: None };
        server.start_again().await?;
        Ok(server)
    }

    /// Starts it on the existing data, unless it is running.
    pub async fn start_again(&mut self) -> Result<(), Failure> {
        if self.running.is_some() {
            return Ok(());
        }
        let log = File::options().append(true).create(true).open(self.log())?;
        let mut child = Command::new(&self.program)
            .args(&self.arguments)
            .current_dir(&self.folder)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(log)
            .kill_on_drop(true)
            .spawn()?;
        let mut lines = BufReader::new(child.stdout.take().ok_or("its output is not piped")?).lines();
        let first = timeout(PATIENCE, lines.next_line()).await.map_err(|_| "it did not say where it listens")??;
        if !first.as_ref().is_some_and(|line| line.starts_with("listening on https://")) {
            return Err(format!("it began with {first:?}; its log:\n{}", read_to_string(self.log())?).into());
        }
        // Continue to read, so that the server never blocks on output.
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        self.running = Some(child);
        Ok(())
    }

    /// Stops it with SIGTERM. It must end successfully and soon, even with open watches.
    pub async fn stop(&mut self) -> Result<(), Failure> {
        let mut child = self.running.take().ok_or("it is not running")?;
        let id = child.id().ok_or("it ended by itself")?.to_string();
        if !Command::new("kill").args(["-TERM", &id]).status().await?.success() {
            return Err("it could not be stopped".into());
        }
        let status = timeout(PATIENCE, child.wait()).await.map_err(|_| "it did not stop after SIGTERM")??;
        if status.success() { Ok(()) } else { Err(format!("it stopped with {status}").into()) }
    }

    /// Kills it with SIGKILL at any moment.
    pub async fn kill(&mut self) -> Result<(), Failure> {
        Ok(self.running.take().ok_or("it is not running")?.kill().await?)
    }

    /// The last step: the server stops, and has never panicked.
    pub async fn end(&mut self) -> Result<(), Failure> {
        self.stop().await?;
        let log = read_to_string(self.log())?;
        if log.contains("panicked") { Err(log.into()) } else { Ok(()) }
    }

    /// The host and port.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// The kubeconfig that the server wrote, in its data directory.
    pub fn kubeconfig(&self) -> PathBuf {
        self.folder.join("data/kubeconfig")
    }

    /// The content of the kubeconfig.
    pub async fn config(&self) -> Result<Config, Failure> {
        let kubeconfig = Kubeconfig::read_from(self.kubeconfig())?;
        Ok(Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?)
    }

    /// A client of the admin.
    pub async fn client(&self) -> Result<Client, Failure> {
        Ok(Client::try_from(self.config().await?)?)
    }

    fn log(&self) -> PathBuf {
        self.folder.join("log")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // A remaining temporary folder does no harm.
        let _ = remove_dir_all(&self.folder);
    }
}

/// An address that stays free while the server is down. Its port is below the ephemeral range, so that no connection
/// takes it meanwhile, and a client that tries to connect does not connect to itself.
fn free_address() -> Result<String, Failure> {
    let first = 20_000 + std::process::id() % 10_000;
    let mut addresses = (first..first + 1_000).map(|port| format!("127.0.0.1:{port}"));
    addresses.find(|address| TcpListener::bind(address).is_ok()).ok_or_else(|| "no port is free".into())
}
