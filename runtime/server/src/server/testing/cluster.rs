//! A cluster of a test, and its clients.
use std::{path::Path, time::Duration};

use crate::{
    auth::User,
    meta::Time,
    server::{Faults, TestServer},
};

/// The name of the administrator, and the user agent of its client.
const ADMIN: &str = "kubernetes-admin";

/// A server in the process of a test. It stops on drop, and leaves no files.
pub struct Cluster {
    server: TestServer,
    listens: bool,
}

impl Cluster {
    pub(super) fn new(server: TestServer, listens: bool) -> Self {
        Self { server, listens }
    }

    /// A client of the administrator, who may do everything. It has no connection; its namespace is `default`.
    ///
    /// # Panics
    /// Outside of a Tokio runtime, which kube's clients need.
    pub fn client(&self) -> ::kube::Client {
        self.client_as(ADMIN, &[User::MASTERS])
    }

    /// A client of another user, who may do what roles and bindings allow. Its user agent is the user's name, by which faults can be
    /// for this client alone, and which is the field manager of its writes that name none.
    ///
    /// # Panics
    /// Outside of a Tokio runtime, which kube's clients need.
    pub fn client_as(&self, user: &str, groups: &[&str]) -> ::kube::Client {
        assert!(
            tokio::runtime::Handle::try_current().is_ok(),
            "a client of kube-rs needs a Tokio runtime: create it in a test with #[tokio::test], or within Runtime::block_on"
        );
        self.server.kube_client_as(User::new(user, groups))
    }

    /// The faults that requests meet: those of the cluster's clients, of controllers in its server, and of other processes.
    pub fn faults(&self) -> &Faults {
        self.server.faults()
    }

    /// Moves the clock of the cluster forward: see [`TestServer::advance`].
    pub fn advance(&self, by: Duration) {
        self.server.advance(by);
    }

    /// The time on the cluster's clock.
    pub fn now(&self) -> Time {
        self.server.now()
    }

    /// The base of every URL, such as `https://127.0.0.1:40123`.
    ///
    /// # Panics
    /// Without [`ClusterBuilder::listening`](super::ClusterBuilder::listening).
    pub fn url(&self) -> &str {
        self.check_listens("URL");
        self.server.url()
    }

    /// The file of a kubeconfig of the administrator, for other processes. It is removed with the cluster.
    ///
    /// # Panics
    /// Without [`ClusterBuilder::listening`](super::ClusterBuilder::listening).
    pub fn kubeconfig(&self) -> &Path {
        self.check_listens("kubeconfig");
        self.server.kubeconfig()
    }

    fn check_listens(&self, what: &str) {
        assert!(self.listens, "the cluster listens on no port and has no {what}: add .listening() before .start()");
    }

    /// The server: calls without a client, the store, the files of the server.
    pub fn server(&self) -> &TestServer {
        &self.server
    }

    /// Stops the cluster like a signal, and waits until it has stopped.
    ///
    /// # Panics
    /// If the server panicked while it stopped.
    pub async fn stop(self) {
        let stopping = tokio::task::spawn_blocking(move || self.server.stop());
        stopping.await.expect("a server stops without a panic");
    }
}
