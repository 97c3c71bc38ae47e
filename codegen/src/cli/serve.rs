//! `kindsmith serve`: a server of the kinds that files define, without a compiler.

use std::path::{Path, PathBuf};

use clap::Args;
use kindsmith::{
    Error, Server,
    server::{Arguments, Settings},
};

use super::{
    Outcome,
    terminal::{print, report},
};

pub(super) const ABOUT: &str = "Serve the kinds that files define, as they stand.

`kindsmith serve kubernetes` serves the API of Kubernetes itself, without nodes and controllers, and what further files define beside it. \
A folder of that name is ./kubernetes.

Files are manifests of CustomResourceDefinitions and OpenAPI v3 documents, in YAML or JSON, with discovery documents, overlays and Protobuf definitions \
beside them; of folders, all files ending in .yaml, .yml, .json or .proto are read. \
Further definitions can be applied with kubectl while the server runs. A changed file is served anew within a few seconds. If \
it is broken, an error names the file and the line, and what it defined before is served on.

Each option is also an environment variable, such as KINDSMITH_DATA_DIR, and a key of the file that --config names; --help says more about \
each, and --print-config prints all of them in the form of that file.";

pub(super) const EXAMPLES: &str = "\
Example:
  kindsmith serve widgets.yaml --data-dir ./data
  kubectl --kubeconfig ./data/kubeconfig get widgets
  kindsmith serve kubernetes --crds config/crd --memory
  kindsmith serve --config server.yaml";

/// The arguments.
#[derive(Args)]
pub(super) struct Command {
    /// `kubernetes`, for the API of Kubernetes, and files and folders of definitions and documents.
    #[arg(value_name = "FILES-OR-FOLDERS")]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    settings: Arguments,
}

/// The name that stands for the API of Kubernetes, in a command that has it. Otherwise it is the name of a folder.
const KUBERNETES: &str = "kubernetes";

/// Adds what is to be served.
pub(super) fn add(settings: &mut Arguments, paths: Vec<PathBuf>) -> kindsmith::Result<()> {
    for path in paths {
        if path.as_os_str() == KUBERNETES && cfg!(feature = "kubernetes") {
            settings.set("kubernetes", "true")?;
        } else {
            settings.set("definitions", text(&path)?)?;
        }
    }
    Ok(())
}

/// A path as a setting has it.
pub(super) fn text(path: &Path) -> kindsmith::Result<&str> {
    path.to_str().ok_or_else(|| Error::Setting(format!("{}: the path is not UTF-8", path.display())))
}

/// Serves until a signal.
pub(super) fn run(Command { paths, mut settings }: Command) -> Outcome {
    let served = add(&mut settings, paths).and_then(|()| serve(settings));
    match served {
        Ok(()) => Outcome::Whole,
        Err(error) => {
            report(format_args!("error: {error}"));
            Outcome::Failed
        }
    }
}

fn serve(arguments: Arguments) -> kindsmith::Result<()> {
    let settings = Settings::new(arguments)?;
    if let Some(text) = settings.printed() {
        print(format_args!("{text}"));
        return Ok(());
    }
    let _log = settings.start_log();
    let runtime = tokio::runtime::Runtime::new().map_err(|error| Error::Setting(error.to_string()))?;
    runtime.block_on(settings.serve(Server::builder().definitions()))
}
