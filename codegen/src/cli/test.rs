//! `kindsmith test`: a server in memory for as long as a command runs.

use std::{
    io,
    os::unix::process::ExitStatusExt as _,
    path::PathBuf,
    process::ExitStatus,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::sleep,
    time::{Duration, Instant},
};

use clap::Args;
use kindsmith::{
    Server,
    server::{Arguments, Settings},
};
use tokio::{
    net::TcpListener,
    signal::unix::{SignalKind, signal},
    sync::oneshot,
};

use super::{Outcome, kinds::SizeLimit, serve, terminal::report};

pub(super) const ABOUT: &str = "Run a command beside an API server in memory.

The server serves what is named, or the API of Kubernetes if nothing is, and what --crds defines beside it. The command finds it by KUBECONFIG; \
USE_EXISTING_CLUSTER is set, so that envtest takes it, too. When the command ends, the server does, and the exit code is that of the \
command: 128 and the number of the signal that ended it, 127 if it is not there. Nothing stays.

The log of the server shows errors; RUST_LOG=info shows all.";

pub(super) const EXAMPLES: &str = "\
Examples:
  kindsmith test -- kubectl get namespaces
  kindsmith test --crds config/crd -- go test ./...
  kindsmith test my-cluster -- helm install shop ./chart";

/// The arguments.
#[derive(Args)]
pub(super) struct Command {
    /// `kubernetes`, for the API of Kubernetes, and files and folders of definitions and documents.
    #[arg(value_name = "FILES-OR-FOLDERS")]
    paths: Vec<PathBuf>,
    /// A file or folder of CustomResourceDefinitions to create; may be repeated.
    #[arg(long, value_name = "FILE-OR-FOLDER")]
    crds: Vec<PathBuf>,
    #[command(flatten)]
    size: SizeLimit,
    /// The command, with its arguments.
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<String>,
}

/// The exit codes of shells for a command that is not there, and for one that cannot be run.
const NOT_FOUND: u8 = 127;
const NOT_RUN: u8 = 126;
/// How often it is checked whether the command has ended.
const POLL_INTERVAL: Duration = Duration::from_millis(5);
/// The time after SIGTERM before a command is killed.
const GRACE: Duration = Duration::from_secs(10);

/// Runs the command.
pub(super) fn run(command: Command) -> Result<Outcome, String> {
    let _log = kindsmith::logging::init("error");
    let runtime = tokio::runtime::Runtime::new().map_err(|error| error.to_string())?;
    let name = command.command[0].clone();
    match runtime.block_on(beside_server(command))? {
        // 128 and the number of the signal, as shells have it.
        Ok(status) => {
            let code = status.code().or_else(|| Some(128 + status.signal()?));
            Ok(Outcome::Exited(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX)))
        }
        Err(error) => {
            report(format_args!("error: {name} cannot be run: {error}"));
            Ok(Outcome::Exited(if error.kind() == io::ErrorKind::NotFound { NOT_FOUND } else { NOT_RUN }))
        }
    }
}

/// Returns how the command ended, or why it could not be run.
async fn beside_server(arguments: Command) -> Result<io::Result<ExitStatus>, String> {
    let (listens, listening) = oneshot::channel();
    let server = settings(&arguments).and_then(|settings| settings.builder(Server::builder().definitions()));
    let command = arguments.command;
    let server =
        server.map_err(|error| error.to_string())?.on_ready(move |ready| drop(listens.send(ready.kubeconfig.clone())));
    let app = server.build().await.map_err(|error| error.to_string())?;
    let listener = TcpListener::bind("127.0.0.1:0").await.map_err(|error| error.to_string())?;
    let (ends, ended) = oneshot::channel();
    let beside = async move {
        // Without one, the command would take that of the user.
        let Some(kubeconfig) = listening.await.ok().flatten() else { return };
        let mut child = std::process::Command::new(&command[0]);
        child.args(&command[1..]).env("KUBECONFIG", kubeconfig).env("USE_EXISTING_CLUSTER", "true");
        drop(ends.send(run_child(child).await));
    };
    tokio::spawn(beside);
    let mut status = None;
    app.run(listener, async { status = ended.await.ok() }).await.map_err(|error| error.to_string())?;
    status.ok_or_else(|| "the command was not run".to_owned())
}

/// The settings of a server in memory, without those of the environment.
fn settings(Command { paths, crds, size, .. }: &Command) -> kindsmith::Result<Settings> {
    let mut settings = Arguments::default();
    let kubernetes = || vec!["kubernetes".into()];
    serve::add(&mut settings, if paths.is_empty() { kubernetes() } else { paths.clone() })?;
    for path in crds {
        settings.set("crds", serve::text(path)?)?;
    }
    settings.set("maxFileSize", size.to_string())?;
    settings.set("memory", "true")?;
    Settings::of_arguments(settings)
}

/// Runs a command to its end. It gets Ctrl-C from the terminal, and decides what to do. SIGTERM is passed on; a command that goes on is
/// killed.
async fn run_child(mut command: std::process::Command) -> io::Result<ExitStatus> {
    // Before the command runs: a signal that ended this process would leave it behind.
    let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    let mut child = command.spawn()?;
    let terminated = Arc::new(AtomicBool::new(false));
    let to_set = terminated.clone();
    let signals = tokio::spawn(async move {
        loop {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => to_set.store(true, Ordering::Relaxed),
            }
        }
    });
    let waiting = tokio::task::spawn_blocking(move || {
        let mut kill_at = None;
        loop {
            if terminated.swap(false, Ordering::Relaxed) {
                drop(std::process::Command::new("kill").arg(child.id().to_string()).status());
                kill_at.get_or_insert_with(|| Instant::now() + GRACE);
            }
            if kill_at.is_some_and(|at| Instant::now() >= at) {
                child.kill()?;
            }
            if let Some(status) = child.try_wait()? {
                return Ok(status);
            }
            sleep(POLL_INTERVAL);
        }
    });
    let status = waiting.await.map_err(io::Error::other)?;
    signals.abort();
    status
}
