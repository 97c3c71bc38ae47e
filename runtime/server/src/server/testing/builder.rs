//! What a cluster of a test has before it starts.
use std::path::{Path, PathBuf};

use ::kube::CustomResourceExt;

use super::Cluster;
use crate::{
    crd,
    files::{self, Limits, Listing},
    kind::{policy::Custom, resource::Stored},
    server::{Builder, Error, Result, TestBuilder, definition_files, stores::Keep},
};

/// Builds a [`Cluster`].
#[must_use = "a builder does nothing until `start` is called"]
pub struct ClusterBuilder {
    server: Builder,
    crds: Vec<PathBuf>,
    listens: bool,
}

impl ClusterBuilder {
    pub(super) fn new(server: Builder) -> Self {
        Self { server, crds: Vec::new(), listens: false }
    }

    /// Serves the CustomResourceDefinitions in a file or folder, such as `config/crd`. Of folders, all files are read that end in
    /// `.yaml`, `.yml` or `.json`, also in folders below; other documents in them are left out. The path is relative to the folder of
    /// the package, in which cargo runs tests.
    pub fn with_crds(mut self, path: impl AsRef<Path>) -> Self {
        self.crds.push(path.as_ref().to_owned());
        self
    }

    /// Serves a kind that is declared with Kindsmith's derive.
    pub fn with_kind<R: Stored>(self) -> Self {
        self.configure(Builder::kind::<R>)
    }

    /// Serves a kind that is declared with kube's `#[derive(CustomResource)]`.
    pub fn with_kube_kind<T: CustomResourceExt>(self) -> Self {
        self.configure(Builder::kube_kind::<T>)
    }

    /// Changes any other setting of the server: controllers, hooks, admission, limits, …
    pub fn configure(mut self, change: impl FnOnce(Builder) -> Builder) -> Self {
        self.server = change(self.server);
        self
    }

    /// Listens on a free port of 127.0.0.1, with TLS, so that other processes can use the cluster: see [`Cluster::url`] and
    /// [`Cluster::kubeconfig`].
    pub fn listening(mut self) -> Self {
        self.listens = true;
        self
    }

    /// Starts the cluster, and waits until it is ready.
    ///
    /// # Panics
    /// If it cannot start, with the reasons.
    pub async fn start(self) -> Cluster {
        match self.try_start().await {
            Ok(cluster) => cluster,
            Err(error) => panic!("the cluster of the test cannot start: {error}"),
        }
    }

    /// Starts the cluster, and waits until it is ready.
    ///
    /// # Errors
    /// [`Error`] if a definition is missing or wrong, or if the server cannot start.
    pub async fn try_start(mut self) -> Result<Cluster> {
        for path in &self.crds {
            self.server.entrance.samples.kinds.extend(definitions(path)?);
        }
        if matches!(self.server.core.store.keep, Keep::Unsaid) {
            self.server = self.server.memory();
        }
        let server = TestBuilder::of(self.server);
        let server = if self.listens { server.tls() } else { server.without_listener() };
        Ok(Cluster::new(server.try_start().await?, self.listens))
    }
}

/// The kinds that a file or folder defines.
fn definitions(path: &Path) -> Result<Vec<crate::kind::Kind>> {
    let Listing { files, problems } = files::list(path, true, &definition_files::is_known);
    let mut problems: Vec<_> = problems.iter().map(|(path, why)| format!("{}: {why}", path.display())).collect();
    let (mut kinds, mut limits) = (Vec::new(), Limits::default());
    for file in files.into_iter().filter(|file| file.extension().is_none_or(|end| end != "proto")) {
        let name = file.display().to_string();
        let text = match files::read_next(&file, &mut limits) {
            Ok(text) => text,
            Err(error) => {
                problems.push(format!("{name}: {error}"));
                continue;
            }
        };
        match crd::read(&name, &text) {
            Ok(manifest) => {
                kinds.extend(manifest.definitions.iter().flat_map(|parsed| parsed.definition.kinds(&Custom)));
            }
            Err(report) => problems.push(report.to_string()),
        }
    }
    if kinds.is_empty() && problems.is_empty() {
        let folder = std::env::current_dir().map(|folder| folder.display().to_string()).unwrap_or_default();
        problems.push(format!(
            "{}: no CustomResourceDefinition there; with_crds takes a file or a folder of them, whose names end in .yaml, .yml or \
             .json, and paths are relative to {folder}",
            path.display()
        ));
    }
    if problems.is_empty() { Ok(kinds) } else { Err(Error::Kind(problems.join("\n"))) }
}
