//! `kindsmith serve`: a server of the kinds that files define, without a compiler.

use std::{
    fs::{self, OpenOptions},
    future,
    io::{self, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
    process, thread,
};

use clap::Args;
use kindsmith::{Server, server::Builder};
use tokio::sync::oneshot;

use super::{Outcome, kinds::SizeLimit, terminal::report};

pub(super) const ABOUT: &str = "Serve the kinds that files define, as they stand.

`kindsmith serve kubernetes` serves the API of Kubernetes itself, without nodes and controllers, and what further files define beside it. \
A folder of that name is ./kubernetes.

Files are manifests of CustomResourceDefinitions and OpenAPI v3 documents, in YAML or JSON, with discovery documents, overlays and Protobuf definitions \
beside them; of folders, all files ending in .yaml, .yml, .json or .proto are read. \
Further definitions can be applied with kubectl while the server runs. A changed file is served anew within a few seconds. If \
it is broken, an error names the file and the line, and what it defined before is served on.";

pub(super) const EXAMPLES: &str = "\
Example:
  kindsmith serve widgets.yaml --data-dir ./data
  kubectl --kubeconfig ./data/kubeconfig get widgets
  kindsmith serve kubernetes --crds config/crd --memory";

/// The arguments that say which kinds a server has.
#[derive(Args)]
pub(super) struct KindArguments {
    /// `kubernetes`, for the API of Kubernetes, and files and folders of definitions and documents.
    #[arg(value_name = "FILES-OR-FOLDERS")]
    pub paths: Vec<PathBuf>,
    /// A file or folder of CustomResourceDefinitions; may be repeated.
    #[arg(long, value_name = "FILE-OR-FOLDER")]
    crds: Vec<PathBuf>,
    #[command(flatten)]
    size: SizeLimit,
}

impl KindArguments {
    /// A server with these kinds, which takes further definitions from clients.
    pub(super) fn builder(self) -> Builder {
        let server = definitions(Server::builder().definitions(), self.paths).definition_files(self.crds);
        server.max_definition_file(self.size.bytes())
    }
}

/// The arguments.
#[derive(Args)]
#[allow(clippy::struct_excessive_bools, reason = "each is a flag")]
pub(super) struct Command {
    #[command(flatten)]
    kinds: KindArguments,
    /// Address to listen on; port 0 chooses a free one.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8080")]
    listen: String,
    /// Directory for objects, certificates, the admin token and the kubeconfig.
    #[arg(long, value_name = "DIR", default_value = "./data", conflicts_with = "memory")]
    data_dir: PathBuf,
    /// Keep everything in memory and temporary files only.
    #[arg(long)]
    memory: bool,
    /// Another name in the certificate; may be repeated.
    #[arg(long, value_name = "NAME")]
    host_name: Vec<String>,
    /// Serve behind another API server: the kubeconfig of the host, which says who users are and what they may do.
    #[arg(long, value_name = "KUBECONFIG")]
    delegate: Option<PathBuf>,
    /// Serve behind the API server of the cluster in which this runs as a Pod.
    #[arg(long, conflicts_with = "delegate")]
    delegate_in_cluster: bool,
    /// File of the issuers whose ID tokens are accepted: kube-apiserver's AuthenticationConfiguration.
    #[arg(long, value_name = "FILE")]
    authentication_config: Option<PathBuf>,
    /// File of who decides what users may do, and in which order: kube-apiserver's AuthorizationConfiguration.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["delegate", "delegate_in_cluster"])]
    authorization_config: Option<PathBuf>,
    /// Serve APIServices, and pass requests on to the API servers that they name.
    #[arg(long)]
    aggregation: bool,
    /// Write a copy of the administrator's kubeconfig to this file when the server listens.
    #[arg(long, value_name = "FILE")]
    write_kubeconfig: Option<PathBuf>,
    /// Write the URL to this file when the server answers.
    #[arg(long, value_name = "FILE")]
    ready_file: Option<PathBuf>,
    /// Stop when standard input ends, as it does when the process that started this one ends.
    #[arg(long)]
    stop_with_stdin: bool,
}

/// The name that stands for the API of Kubernetes.
#[cfg(feature = "kubernetes")]
const KUBERNETES: &str = "kubernetes";

/// Serves files, and the API of Kubernetes where it is named.
#[cfg(feature = "kubernetes")]
fn definitions(server: Builder, paths: Vec<PathBuf>) -> Builder {
    let count = paths.len();
    let files: Vec<_> = paths.into_iter().filter(|path| path.as_os_str() != KUBERNETES).collect();
    let server = if files.len() < count { server.kubernetes() } else { server.complete_kubernetes() };
    server.definition_files(files)
}

/// Without the feature, `kubernetes` is the name of a folder.
#[cfg(not(feature = "kubernetes"))]
fn definitions(server: Builder, paths: Vec<PathBuf>) -> Builder {
    server.definition_files(paths)
}

/// Writes a file that only its owner can read, so that it is there as a whole or not at all.
fn write_whole(file: &Path, text: &str) -> io::Result<()> {
    let mut name = file.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}", process::id()));
    let draft = file.with_file_name(name);
    let mut written = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&draft)?;
    written.write_all(text.as_bytes())?;
    fs::rename(draft, file)
}

/// Waits for the end of standard input, if that is asked for. The thread that reads does not keep the process from its end.
async fn end_of_stdin(is_awaited: bool) {
    if !is_awaited {
        return future::pending().await;
    }
    let (ends, ended) = oneshot::channel();
    thread::spawn(move || {
        // An input that cannot be read has ended, too.
        drop(io::copy(&mut io::stdin().lock(), &mut io::sink()));
        let _ = ends.send(());
    });
    drop(ended.await);
}

/// Serves until a signal, or until standard input ends.
pub(super) fn run(command: Command) -> Outcome {
    let _log = kindsmith::logging::init("info");
    let server = command.kinds.builder();
    let server = if command.memory { server.memory() } else { server.data_dir(command.data_dir) };
    let server = command.host_name.into_iter().fold(server, Builder::host_name);
    let server = match command.delegate {
        Some(kubeconfig) => server.delegated(kubeconfig),
        None if command.delegate_in_cluster => server.delegated_in_cluster(),
        None => server,
    };
    let server = match command.authentication_config {
        Some(file) => server.authentication_config(file),
        None => server,
    };
    let server = match command.authorization_config {
        Some(file) => server.authorization_config(file),
        None => server,
    };
    let server = if command.aggregation { server.aggregation() } else { server };
    let (kubeconfig, ready) = (command.write_kubeconfig, command.ready_file);
    let server = server.on_ready(move |listening| {
        // The kubeconfig first: programs read it as soon as the other file appears.
        let copied = kubeconfig.zip(listening.kubeconfig.as_ref()).map(|(to, from)| {
            let written = fs::read_to_string(from).and_then(|text| write_whole(&to, &text));
            (to, written)
        });
        let is_copied = copied.as_ref().is_none_or(|(_, copied)| copied.is_ok());
        let written = ready.filter(|_| is_copied).map(|to| {
            let written = write_whole(&to, &format!("{}\n", listening.url));
            (to, written)
        });
        for (file, written) in [copied, written].into_iter().flatten() {
            if let Err(error) = written {
                report(format_args!("error: {} cannot be written: {error}", file.display()));
            }
        }
    });
    let runtime = match tokio::runtime::Runtime::new() {
        Ok(runtime) => runtime,
        Err(error) => {
            report(format_args!("error: {error}"));
            return Outcome::Failed;
        }
    };
    match runtime.block_on(server.serve_until(&command.listen, end_of_stdin(command.stop_with_stdin))) {
        Ok(()) => Outcome::Whole,
        Err(error) => {
            report(format_args!("error: {error}"));
            Outcome::Failed
        }
    }
}
