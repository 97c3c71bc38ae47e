//! `kindsmith serve`: a server of the kinds that files define, without a compiler.

use std::path::{Path, PathBuf};

use clap::Args;
use kindsmith::{Server, server::Builder};

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

/// The arguments.
#[derive(Args)]
pub(super) struct Command {
    /// `kubernetes`, for the API of Kubernetes, and files and folders of definitions and documents.
    #[arg(value_name = "FILES-OR-FOLDERS")]
    paths: Vec<PathBuf>,
    /// A file or folder of CustomResourceDefinitions; may be repeated.
    #[arg(long, value_name = "FILE-OR-FOLDER")]
    crds: Vec<PathBuf>,
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
    #[command(flatten)]
    size: SizeLimit,
}

/// The name that stands for the API of Kubernetes.
const KUBERNETES: &str = "kubernetes";

#[cfg(feature = "kubernetes")]
fn serve_kubernetes(server: Builder) -> Builder {
    server.kubernetes()
}

/// Without the feature, it is the name of a folder.
#[cfg(not(feature = "kubernetes"))]
fn serve_kubernetes(server: Builder) -> Builder {
    server.definition_files([KUBERNETES])
}

/// Serves until a signal.
pub(super) fn run(command: Command) -> Outcome {
    let _log = kindsmith::logging::init("info");
    let (kubernetes, paths): (Vec<_>, Vec<_>) =
        command.paths.into_iter().partition(|path| path == Path::new(KUBERNETES));
    let server = Server::builder().definitions().definition_files(paths.into_iter().chain(command.crds));
    let server = if kubernetes.is_empty() { server } else { serve_kubernetes(server) };
    let server = server.max_definition_file(command.size.bytes());
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
    let runtime = match tokio::runtime::Runtime::new() {
        Ok(runtime) => runtime,
        Err(error) => {
            report(format_args!("error: {error}"));
            return Outcome::Failed;
        }
    };
    match runtime.block_on(server.serve(&command.listen)) {
        Ok(()) => Outcome::Whole,
        Err(error) => {
            report(format_args!("error: {error}"));
            Outcome::Failed
        }
    }
}
