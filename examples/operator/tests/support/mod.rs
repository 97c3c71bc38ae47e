//! What the tests share: a cluster with the definition of databases, controllers that run beside a test, and waiting.
#![allow(dead_code, reason = "each test program uses a part")]

use std::time::Duration;

use k8s_openapi::api::batch::v1::Job;
use kindsmith::testing::Cluster;
use kube::{
    Api, Client,
    api::{ListParams, PostParams},
};
use operator::Database;
use tokio::{
    task::JoinHandle,
    time::{sleep, timeout},
};

/// The name of the controller's user, which faults are for.
pub(crate) const CONTROLLER: &str = "database-operator";
/// How long a test waits for what must happen. A busy machine needs some of it.
const LIMIT: Duration = Duration::from_mins(1);
/// How long a test looks for what must not happen.
const A_WHILE: Duration = Duration::from_millis(1_500);

/// A cluster with the definition of databases.
pub(crate) async fn cluster() -> Cluster {
    kindsmith::testing::kubernetes().with_crds("config/crd").start().await
}

/// A controller that runs until this is dropped.
pub(crate) struct Running(JoinHandle<()>);

impl Running {
    /// Starts a controller with a client of its own.
    pub(crate) fn start<F: Future<Output = ()> + Send + 'static>(
        cluster: &Cluster,
        run: impl FnOnce(Client) -> F,
    ) -> Self {
        Self(tokio::spawn(run(cluster.client_as(CONTROLLER, &["system:masters"]))))
    }

    /// True if the controller has ended by itself.
    pub(crate) fn has_ended(&self) -> bool {
        self.0.is_finished()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Databases as the test sees them.
pub(crate) fn databases(cluster: &Cluster) -> Api<Database> {
    Api::default_namespaced(cluster.client())
}

/// Creates a database.
pub(crate) async fn create(cluster: &Cluster, name: &str) {
    databases(cluster).create(&PostParams::default(), &Database::named(name, "v1")).await.expect("it is created");
}

/// The version to which a database was migrated.
pub(crate) async fn migrated(cluster: &Cluster, name: &str) -> Option<String> {
    databases(cluster).get(name).await.expect("it is there").migrated().map(str::to_owned)
}

/// The number of the Jobs that migrate databases.
pub(crate) async fn jobs(cluster: &Cluster) -> usize {
    Api::<Job>::default_namespaced(cluster.client()).list(&ListParams::default()).await.expect("a list").items.len()
}

/// Waits until a database was migrated.
pub(crate) async fn until_migrated(cluster: &Cluster, name: &str) {
    let migrated = async {
        while migrated(cluster, name).await.is_none() {
            sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(LIMIT, migrated).await.unwrap_or_else(|_| panic!("{name} was not migrated"));
}

/// Waits for what must happen.
pub(crate) async fn soon<T>(what: impl Future<Output = T>) -> T {
    timeout(LIMIT, what).await.expect("it happens in time")
}

/// Sees that a database is not migrated.
pub(crate) async fn stays_undone(cluster: &Cluster, name: &str) {
    sleep(A_WHILE).await;
    assert_eq!(migrated(cluster, name).await, None, "{name} was migrated");
}
