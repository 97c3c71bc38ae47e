//! What a cluster of a test has before it starts.
use std::path::Path;

use ::kube::CustomResourceExt;

use super::Cluster;
use crate::{
    kind::resource::Stored,
    server::{Builder, Result, TestBuilder, stores::Keep},
};

/// Builds a [`Cluster`].
#[must_use = "a builder does nothing until `start` is called"]
pub struct ClusterBuilder {
    server: Builder,
    listens: bool,
}

impl ClusterBuilder {
    pub(super) fn new(server: Builder) -> Self {
        Self { server, listens: false }
    }

    /// Creates the CustomResourceDefinitions in a file or folder, such as `config/crd`. Of folders, all files are read that end in
    /// `.yaml`, `.yml` or `.json`, also in folders below; other documents in them are left out. The path is relative to the folder of
    /// the package, in which cargo runs tests.
    pub fn with_crds(self, path: impl AsRef<Path>) -> Self {
        self.configure(|server| server.install_definitions([path.as_ref()]))
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
    /// [`Error`](crate::server::Error) if a definition is missing or wrong, or if the server cannot start.
    pub async fn try_start(mut self) -> Result<Cluster> {
        if matches!(self.server.core.store.keep, Keep::Unsaid) {
            self.server = self.server.memory();
        }
        let server = TestBuilder::of(self.server);
        let server = if self.listens { server.tls() } else { server.without_listener() };
        Ok(Cluster::new(server.try_start().await?, self.listens))
    }
}
