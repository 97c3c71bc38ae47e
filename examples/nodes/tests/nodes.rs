//! Pods on a server of Kubernetes' API without nodes: the example is its scheduler and its kubelet.

use std::time::Duration;

use k8s_openapi::api::core::v1::{Node, Pod};
use kindsmith::{
    Server,
    server::{ControllerContext, Shutdown, TestServer},
};
use kube::{
    Api, ResourceExt,
    api::{DeleteParams, PostParams},
    runtime::wait::{Condition, await_condition, conditions},
};
use nodes::EXIT_CODE;
use serde_json::{Value, json};
use tokio::time::timeout;

/// A server with a node, which the server runs as a controller in its process.
async fn cluster() -> TestServer {
    let node = async |context: ControllerContext, shutdown: Shutdown| {
        tokio::select! {
            ended = nodes::run(context.kube_client(), "sea") => ended,
            () = shutdown.requested() => Ok(()),
        }
    };
    Server::test().configure(|server| server.kubernetes().controller("node", node)).start().await
}

fn pods(cluster: &TestServer) -> Api<Pod> {
    Api::namespaced(cluster.kube_client(), "default")
}

fn pod(name: &str, annotations: &Value, spec: &Value) -> Pod {
    let mut spec = spec.clone();
    spec["containers"] = json!([{"name": "main", "image": "whale:1"}]);
    serde_json::from_value(json!({"metadata": {"name": name, "annotations": annotations}, "spec": spec}))
        .expect("a Pod")
}

async fn until<K>(api: Api<K>, name: &str, condition: impl Condition<K>) -> Option<K>
where
    K: kube::Resource<DynamicType = ()> + Clone + std::fmt::Debug + Send + serde::de::DeserializeOwned + 'static,
{
    let waited = timeout(Duration::from_secs(20), await_condition(api, name, condition)).await;
    waited.expect("in time").expect("a watch")
}

fn phase(pod: &Pod) -> &str {
    pod.status.as_ref().and_then(|status| status.phase.as_deref()).unwrap_or_default()
}

fn is_ready(pod: &Pod) -> bool {
    let conditions = pod.status.iter().flat_map(|status| status.conditions.iter().flatten());
    conditions.filter(|condition| condition.type_ == "Ready").any(|condition| condition.status == "True")
}

#[tokio::test(flavor = "multi_thread")]
async fn pods_are_bound_and_become_ready() {
    let cluster = cluster().await;
    let pods = pods(&cluster);
    pods.create(&PostParams::default(), &pod("ahab", &json!({}), &json!({}))).await.expect("created");
    let ahab = until(pods, "ahab", conditions::is_pod_running()).await.expect("a Pod");
    assert!(is_ready(&ahab), "{ahab:?}");
    assert_eq!(ahab.spec.as_ref().and_then(|spec| spec.node_name.as_deref()), Some("sea"));
    let states = ahab.status.iter().flat_map(|status| status.container_statuses.iter().flatten());
    assert_eq!(states.map(|state| (&*state.name, state.ready)).collect::<Vec<_>>(), [("main", true)]);
    let node = Api::<Node>::all(cluster.kube_client()).get("sea").await.expect("a Node");
    let conditions = node.status.and_then(|status| status.conditions).unwrap_or_default();
    assert_eq!(conditions.iter().map(|found| (&*found.type_, &*found.status)).collect::<Vec<_>>(), [("Ready", "True")]);
}

#[tokio::test(flavor = "multi_thread")]
async fn pods_end_with_their_exit_code() {
    let cluster = cluster().await;
    let pods = pods(&cluster);
    let once = json!({"restartPolicy": "Never"});
    pods.create(&PostParams::default(), &pod("well", &json!({EXIT_CODE: "0"}), &once)).await.expect("created");
    pods.create(&PostParams::default(), &pod("ill", &json!({EXIT_CODE: "3"}), &once)).await.expect("created");
    let ended = |pod: Option<&Pod>| pod.is_some_and(|pod| ["Succeeded", "Failed"].contains(&phase(pod)));
    let well = until(pods.clone(), "well", ended).await.expect("a Pod");
    assert_eq!((phase(&well), is_ready(&well)), ("Succeeded", false));
    let ill = until(pods, "ill", ended).await.expect("a Pod");
    let states = ill.status.iter().flat_map(|status| status.container_statuses.iter().flatten());
    let codes: Vec<_> = states.filter_map(|state| state.state.as_ref()?.terminated.as_ref()).collect();
    assert_eq!((phase(&ill), codes.len(), codes[0].exit_code), ("Failed", 1, 3));
}

#[tokio::test(flavor = "multi_thread")]
async fn deleted_pods_are_gone_and_gated_ones_wait() {
    let cluster = cluster().await;
    let pods = pods(&cluster);
    let gated = json!({"schedulingGates": [{"name": "example.com/wait"}]});
    pods.create(&PostParams::default(), &pod("gated", &json!({}), &gated)).await.expect("created");
    pods.create(&PostParams::default(), &pod("ahab", &json!({}), &json!({}))).await.expect("created");
    let ahab = until(pods.clone(), "ahab", conditions::is_pod_running()).await.expect("a Pod");
    // A Pod on a node is deleted once its kubelet says that it has ended.
    pods.delete("ahab", &DeleteParams::default()).await.expect("deleted");
    until(pods.clone(), "ahab", conditions::is_deleted(&ahab.uid().unwrap_or_default())).await;
    assert_eq!(phase(&pods.get("gated").await.expect("a Pod")), "Pending");
}
