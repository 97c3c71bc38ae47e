//! Clusters for tests of controllers and other clients: [`kubernetes`] and [`serve`] begin one in the process of the test.
mod builder;
mod cluster;

pub use builder::ClusterBuilder;
pub use cluster::Cluster;

use super::Builder;
#[cfg(feature = "kubernetes")]
use super::Server;

/// A cluster in the process of a test: the API of Kubernetes, in memory and without nodes and controllers, with definitions of your
/// own and a client of kube-rs. Each test has its own, and as many run side by side as there are tests.
///
/// ```
/// use k8s_openapi::api::core::v1::Pod;
/// use kube::{Api, api::PostParams};
/// use serde_json::{from_value, json};
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// let cluster = kindsmith::testing::kubernetes().start().await;
/// let pods: Api<Pod> = Api::default_namespaced(cluster.client());
/// let pod = json!({"metadata": {"name": "web"}, "spec": {"containers": [{"name": "web", "image": "nginx"}]}});
/// let pod = pods.create(&PostParams::default(), &from_value(pod).unwrap()).await.unwrap();
/// assert_eq!(pod.status.unwrap().phase.unwrap(), "Pending");
/// # });
/// ```
#[cfg(feature = "kubernetes")]
pub fn kubernetes() -> ClusterBuilder {
    let mut server = Server::builder().kubernetes().definitions();
    server.definition_files.kubernetes.is_shared = true;
    ClusterBuilder::new(server)
}

/// The same for a server of your own: what a [`Builder`] serves, in the process of a test, with a client of kube-rs, with faults, and
/// with a clock that the test moves. Without a data directory, objects are in memory.
///
/// ```
/// # use kindsmith::Server;
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// let cluster = kindsmith::testing::serve(Server::builder()).start().await;
/// let version = cluster.client().apiserver_version().await.unwrap();
/// assert_eq!(version.minor, "36");
/// # });
/// ```
pub fn serve(server: Builder) -> ClusterBuilder {
    ClusterBuilder::new(server)
}
