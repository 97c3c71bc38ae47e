//! What a test needs of a scheduler and a kubelet, to copy from: no container runs, but Pods become ready.
//!
//! [`run`] registers a Node, binds Pods to it, and reports them as running and ready. Pods of Jobs succeed at once, and those with the
//! annotation [`EXIT_CODE`] end with that code. Deleted Pods are confirmed as gone.

use std::{sync::Arc, time::Duration};

use futures_util::StreamExt;
use k8s_openapi::{
    api::core::v1::{Node, Pod},
    apimachinery::pkg::apis::meta::v1::Time,
    jiff::Timestamp,
};
use kube::{
    Api, Client, Error, ResourceExt, Result,
    api::{DeleteParams, Patch, PatchParams, PostParams, Preconditions},
    runtime::{
        Controller,
        controller::{Action, Config},
        watcher,
    },
};
use serde_json::{Value, json};

/// The annotation with the exit code of a Pod's containers, which end at once. Without it, only those of Jobs end.
pub const EXIT_CODE: &str = "nodes.example.com/exit-code";

/// The number of Pods that are reconciled concurrently.
const CONCURRENCY: u16 = 32;

/// What reconciling needs.
struct Context {
    client: Client,
    /// The name of the node.
    node: String,
}

/// Registers a node, and runs Pods on it, as far as the API shows.
///
/// # Errors
/// Those of the registration. Later errors are tried again after a second.
pub async fn run(client: Client, node: &str) -> Result<()> {
    register(&client, node).await?;
    let context = Arc::new(Context { client: client.clone(), node: node.to_owned() });
    Controller::new(Api::<Pod>::all(client), watcher::Config::default())
        .with_config(Config::default().concurrency(CONCURRENCY))
        .run(reconcile, |_, _, _| Action::requeue(Duration::from_secs(1)), context)
        .for_each(|_| std::future::ready(()))
        .await;
    Ok(())
}

/// Registers a node that is ready and has room.
async fn register(client: &Client, name: &str) -> Result<()> {
    let nodes: Api<Node> = Api::all(client.clone());
    let params = PatchParams::apply("nodes").force();
    let labels = json!({"kubernetes.io/hostname": name, "kubernetes.io/os": "linux"});
    let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}});
    nodes.patch(name, &params, &Patch::Apply(node)).await?;
    let room = json!({"cpu": "64", "memory": "256Gi", "pods": "1000"});
    let status = json!({
        "capacity": room,
        "allocatable": room,
        "addresses": [{"type": "InternalIP", "address": "127.0.0.1"}, {"type": "Hostname", "address": name}],
        "conditions": [condition("Ready", true, "KubeletReady")],
    });
    let node = json!({"apiVersion": "v1", "kind": "Node", "status": status});
    nodes.patch_status(name, &params, &Patch::Apply(node)).await?;
    Ok(())
}

/// Takes the next step of a Pod: it is bound, runs, ends, or is gone. Each step is a write, whose event leads to the next one.
async fn reconcile(pod: Arc<Pod>, context: Arc<Context>) -> Result<Action> {
    let pods = Api::namespaced(context.client.clone(), &pod.namespace().unwrap_or_default());
    let spec = pod.spec.as_ref();
    let node = spec.and_then(|spec| spec.node_name.as_deref()).unwrap_or_default();
    let is_gated = spec.and_then(|spec| spec.scheduling_gates.as_ref()).is_some_and(|gates| !gates.is_empty());
    let phase = pod.status.as_ref().and_then(|status| status.phase.as_deref()).unwrap_or_default();
    let step = if pod.metadata.deletion_timestamp.is_some() {
        confirm_deletion(&pods, &pod).await
    } else if node.is_empty() && !is_gated {
        bind(&pods, &pod, &context.node).await
    } else if node == context.node && phase == "Pending" {
        report(&pods, &pod, running(&pod)).await
    } else if let Some(code) = exit_code(&pod).filter(|_| node == context.node && phase == "Running") {
        report(&pods, &pod, ended(&pod, code)).await
    } else {
        Ok(())
    };
    match step {
        // Another write came first, or the Pod is gone. An event tells.
        Err(Error::Api(status)) if status.is_conflict() || status.is_not_found() => Ok(Action::await_change()),
        step => step.map(|()| Action::await_change()),
    }
}

/// What a scheduler does.
async fn bind(pods: &Api<Pod>, pod: &Pod, node: &str) -> Result<()> {
    let target = json!({"apiVersion": "v1", "kind": "Node", "name": node});
    let binding =
        json!({"apiVersion": "v1", "kind": "Binding", "metadata": {"name": pod.name_any()}, "target": target});
    let _: Value = pods.create_subresource("binding", &pod.name_any(), &PostParams::default(), &binding).await?;
    Ok(())
}

/// Writes the status, as a kubelet does.
async fn report(pods: &Api<Pod>, pod: &Pod, status: Value) -> Result<()> {
    let patch = Patch::Merge(json!({"metadata": {"uid": pod.uid()}, "status": status}));
    pods.patch_status(&pod.name_any(), &PatchParams::default(), &patch).await?;
    Ok(())
}

/// Says that the containers of a deleted Pod have ended.
async fn confirm_deletion(pods: &Api<Pod>, pod: &Pod) -> Result<()> {
    let preconditions = Preconditions { uid: pod.uid(), resource_version: None };
    let params =
        DeleteParams { grace_period_seconds: Some(0), preconditions: Some(preconditions), ..DeleteParams::default() };
    pods.delete(&pod.name_any(), &params).await?;
    Ok(())
}

/// The status of a Pod that runs.
fn running(pod: &Pod) -> Value {
    let states = containers(pod, true, &json!({"running": {"startedAt": Time(Timestamp::now())}}));
    let conditions = ["PodScheduled", "Initialized", "ContainersReady", "Ready"].map(|kind| condition(kind, true, ""));
    json!({
        "phase": "Running",
        "hostIP": "127.0.0.1",
        "podIP": "127.0.0.1",
        "startTime": Time(Timestamp::now()),
        "conditions": conditions,
        "containerStatuses": states,
    })
}

/// The exit code of a Pod whose containers end.
fn exit_code(pod: &Pod) -> Option<i32> {
    let is_of_job = || pod.owner_references().iter().any(|owner| owner.kind == "Job");
    let annotated = pod.annotations().get(EXIT_CODE).and_then(|code| code.parse().ok());
    annotated.or_else(|| is_of_job().then_some(0))
}

/// The status of a Pod whose containers have ended.
fn ended(pod: &Pod, exit_code: i32) -> Value {
    let (phase, reason) = if exit_code == 0 { ("Succeeded", "Completed") } else { ("Failed", "Error") };
    let now = Time(Timestamp::now());
    let state = json!({"terminated": {"exitCode": exit_code, "reason": reason, "startedAt": now, "finishedAt": now}});
    let done = |kind| condition(kind, false, if exit_code == 0 { "PodCompleted" } else { "PodFailed" });
    let scheduled = ["PodScheduled", "Initialized"].map(|kind| condition(kind, true, ""));
    let conditions = [&scheduled[..], &["ContainersReady", "Ready"].map(done)].concat();
    json!({"phase": phase, "conditions": conditions, "containerStatuses": containers(pod, false, &state)})
}

/// The states of all containers of a Pod. A merge patch replaces the list.
fn containers(pod: &Pod, is_ready: bool, state: &Value) -> Vec<Value> {
    let containers = pod.spec.iter().flat_map(|spec| &spec.containers);
    let of_container = |container: &k8s_openapi::api::core::v1::Container| {
        json!({
            "name": container.name,
            "image": container.image.as_deref().unwrap_or_default(),
            "imageID": "",
            "ready": is_ready,
            "started": is_ready,
            "restartCount": 0,
            "state": state,
        })
    };
    containers.map(of_container).collect()
}

/// A condition since now.
fn condition(kind: &str, is_true: bool, reason: &str) -> Value {
    let status = if is_true { "True" } else { "False" };
    json!({"type": kind, "status": status, "reason": reason, "lastTransitionTime": Time(Timestamp::now())})
}
