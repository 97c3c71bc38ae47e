//! A Pod with the fields that `kubectl exec`, `attach`, `logs`, `cp` and `port-forward` use, and the handlers of its
//! subresources. The containers are processes of this machine, or a few lines of code.

mod logs;
mod machines;
mod sessions;

use kindsmith::{
    ApiType, ObjectMeta, Resource,
    handlers::{self, Forward, ForwardOptions, Parent, Refusal, Result},
    server::Builder,
};
pub use logs::flooded;
pub use machines::{Machine, serve as machines};
use serde::{Deserialize, Serialize};
use tokio::io::AsyncWriteExt;

/// A pod.
#[derive(Resource, Clone, Debug)]
#[resource(group = "", version = "v1", shortname = "po", builtin, status)]
pub struct Pod {
    /// Standard object's metadata.
    pub metadata: ObjectMeta,
    /// The desired containers.
    pub spec: PodSpec,
    /// The observed state.
    pub status: Option<PodStatus>,
}

/// The desired state of a pod.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
pub struct PodSpec {
    /// The containers.
    #[api(list = map(key = name))]
    pub containers: Vec<Container>,
}

/// A container.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
pub struct Container {
    /// Its name.
    pub name: String,
    /// True if it has a terminal.
    pub tty: Option<bool>,
    /// True if its standard input is open.
    pub stdin: Option<bool>,
}

/// The observed state of a pod.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
pub struct PodStatus {
    /// Such as `Running`.
    pub phase: Option<String>,
    /// What is known about it.
    #[api(list = map(key = kind))]
    pub conditions: Option<Vec<PodCondition>>,
}

/// One thing that is known about a pod. Clients wait for `Ready` before they run commands.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
pub struct PodCondition {
    /// Such as `Ready`.
    #[serde(rename = "type")]
    pub kind: String,
    /// `True`, `False` or `Unknown`.
    pub status: String,
}

/// Adds pods to a server.
pub fn serve(server: Builder) -> Builder {
    server
        .kind::<Pod>()
        .subresource("log", handlers::text(logs::log))
        .subresource("flood", handlers::text(logs::flood))
        .subresource("exec", handlers::exec(sessions::exec))
        .subresource("attach", handlers::exec(sessions::attach))
        .subresource("portforward", handlers::port_forward(forward))
}

fn check(pod: &Pod, container: Option<&str>) -> Result<()> {
    match container {
        Some(name) if !pod.spec.containers.iter().any(|c| c.name == name) => {
            Err(Refusal::bad_request(format!("container {name} is not valid for pod {}", pod.metadata.name)))
        }
        _ => Ok(()),
    }
}

/// Port 7 echoes, port 9 refuses, port 13 panics, others send a greeting.
async fn forward(_pod: Parent<Pod>, _options: ForwardOptions) -> Result<Forward> {
    Ok(Forward::new(|port, mut stream| async move {
        match port {
            7 => {
                let (mut from, mut to) = tokio::io::split(stream);
                tokio::io::copy(&mut from, &mut to).await.map(drop)
            }
            9 => Err(std::io::Error::other("connection refused on port 9")),
            13 => panic!("as asked"),
            port => stream.write_all(format!("this is port {port}").as_bytes()).await,
        }
    }))
}
