//! The kind whose objects the paths read and write: about 3 KB in JSON, with lists by key, defaults and limits, as workloads have.
use std::collections::BTreeMap;

use kindsmith::{ApiType, ObjectMeta, Resource};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// A workload.
#[derive(Resource, Clone, Debug)]
#[resource(group = "instructions.example.com", version = "v1", status)]
pub(crate) struct Workload {
    metadata: ObjectMeta,
    spec: WorkloadSpec,
    status: Option<WorkloadStatus>,
}

/// What a workload runs.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct WorkloadSpec {
    #[api(default = 1, minimum = 0)]
    replicas: i32,
    #[serde(default)]
    selector: BTreeMap<String, String>,
    #[api(list = map(key = name))]
    #[serde(default)]
    containers: Vec<Container>,
    #[api(list = set)]
    #[serde(default)]
    tags: Vec<String>,
}

/// A program of a workload.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Container {
    #[api(min_length = 1, max_length = 63)]
    name: String,
    image: Option<String>,
    #[api(default = "IfNotPresent")]
    pull_policy: String,
    #[api(list = atomic)]
    #[serde(default)]
    args: Vec<String>,
    #[api(list = map(key = container_port, key = protocol))]
    #[serde(default)]
    ports: Vec<Port>,
    #[api(list = map(key = name))]
    #[serde(default)]
    env: Vec<Variable>,
}

/// A port of a container.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Port {
    #[api(minimum = 1, maximum = 65535)]
    container_port: i32,
    #[api(default = "TCP")]
    protocol: String,
}

/// A variable of a container's environment.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
struct Variable {
    name: String,
    value: Option<String>,
}

/// What was observed of a workload.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
struct WorkloadStatus {
    ready: Option<i32>,
}

/// The JSON of a workload. With another number, it is another one of the same size. An update names the revision that it replaces.
pub(crate) fn workload(name: &str, number: u64, replaced: Option<u64>) -> String {
    let container = |name: &str| {
        let variable = |at| json!({"name": format!("VARIABLE_{at}"), "value": format!("the value of {at}")});
        json!({
            "name": name, "image": format!("registry.example.com/team/{name}:1.2.3"),
            "args": ["--listen=0.0.0.0", "--verbose"], "ports": [{"containerPort": 8080}, {"containerPort": 9090}],
            "env": (0..6).map(variable).collect::<Vec<_>>(),
        })
    };
    let mut workload = json!({
        "apiVersion": "instructions.example.com/v1", "kind": "Workload",
        "metadata": {"name": name, "labels": {"app": "shop", "tier": "front", "team": "sales"},
            "annotations": {"example.com/number": format!("{number:06}"), "example.com/reason": "x".repeat(200)}},
        "spec": {"selector": {"app": "shop", "tier": "front"}, "tags": ["a", "b", "c"],
            "containers": [container("web"), container("cache"), container("proxy")]},
    });
    if let Some(revision) = replaced {
        workload["metadata"]["resourceVersion"] = revision.to_string().into();
    }
    workload.to_string()
}
