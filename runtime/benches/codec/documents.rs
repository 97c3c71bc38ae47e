//! The objects that are measured: small and large, flat and deep, as clients send them.
use std::collections::BTreeMap;

use kindsmith::{
    ApiType, Condition, IntOrString, ObjectMeta, Quantity, Resource, builtin, kind::Kind, schema::Document,
};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// An object and its kind.
pub(crate) struct Sample {
    pub name: &'static str,
    pub kind: Kind,
    pub object: Document,
}

/// All of them.
pub(crate) fn samples() -> Vec<Sample> {
    let builtin =
        |name: &str| builtin::kinds().into_iter().find(|kind| kind.names().kind == name).expect("a built-in kind");
    vec![
        Sample { name: "ConfigMap of 2 KB", kind: builtin("ConfigMap"), object: config_map() },
        Sample { name: "Lease", kind: builtin("Lease"), object: lease() },
        Sample { name: "deep object of 4 KB", kind: Machine::kind(), object: machine(4) },
        Sample { name: "deep object of 200 KB", kind: Machine::kind(), object: machine(340) },
    ]
}

fn metadata(name: &str, fields: &Document) -> Document {
    json!({
        "name": name, "namespace": "default", "uid": "6d1a37b3-8b3f-4f43-9c2e-5c1d9e6a7b10",
        "resourceVersion": "123456", "creationTimestamp": "2026-11-21T08:21:36Z",
        "labels": {"app.kubernetes.io/name": name, "app.kubernetes.io/part-of": "bench", "tier": "backend"},
        "annotations": {"example.com/note": "a text with \"quotes\" and a\nline break"},
        "managedFields": [{
            "manager": "kubectl", "operation": "Apply", "apiVersion": "v1", "time": "2026-11-21T08:21:36Z",
            "fieldsType": "FieldsV1", "fieldsV1": fields,
        }],
    })
}

fn config_map() -> Document {
    let line = |n: usize| format!("listen.{n} = 0.0.0.0:{}\nlog.level = \"info\"\ntimeout = {n}s\n", 8_000 + n);
    let script: String =
        ["#!/bin/sh\nset -eu\n", &"exec /usr/bin/program --config /etc/program.conf\n".repeat(8)].concat();
    json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": metadata("settings", &json!({"f:data": {".": {}, "f:program.conf": {}, "f:start.sh": {}}})),
        "data": {"program.conf": (0..12).map(line).collect::<Vec<_>>().concat(), "start.sh": script, "enabled": "true"},
    })
}

fn lease() -> Document {
    json!({
        "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
        "metadata": metadata("leader", &json!({"f:spec": {"f:holderIdentity": {}, "f:renewTime": {}}})),
        "spec": {
            "holderIdentity": "controller-7c9d6b5f4-x2x7k_2f1e", "leaseDurationSeconds": 15, "leaseTransitions": 3,
            "acquireTime": "2026-11-21T08:21:36.123456Z", "renewTime": "2026-11-21T09:21:36.654321Z",
        },
    })
}

/// A kind as definitions of custom resources have them: structures in lists in structures.
#[derive(Resource, Clone, Debug)]
#[resource(group = "bench.example.com", version = "v1", status)]
pub(crate) struct Machine {
    #[api(proto = 1)]
    pub metadata: ObjectMeta,
    #[api(proto = 2)]
    pub spec: MachineSpec,
    #[api(proto = 3)]
    pub status: Option<MachineStatus>,
}

/// The parts of a machine.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MachineSpec {
    #[api(proto = 1)]
    pub replicas: i32,
    #[api(proto = 2)]
    pub paused: Option<bool>,
    #[api(proto = 3)]
    pub description: Option<String>,
    #[serde(default)]
    #[api(proto = 4, list = map(key = name))]
    pub parts: Vec<Part>,
}

/// A part of a machine.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Part {
    #[api(proto = 1)]
    pub name: String,
    #[api(proto = 2)]
    pub image: String,
    #[serde(default)]
    #[api(proto = 3)]
    pub arguments: Vec<String>,
    #[serde(default)]
    #[api(proto = 4, list = map(key = name))]
    pub environment: Vec<Variable>,
    #[serde(default)]
    #[api(proto = 5, list = map(key = port))]
    pub ports: Vec<Port>,
    #[serde(default)]
    #[api(proto = 6)]
    pub limits: BTreeMap<String, Quantity>,
    #[api(proto = 7)]
    pub probe: Option<Probe>,
}

/// A variable of a part.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Variable {
    #[api(proto = 1)]
    pub name: String,
    #[api(proto = 2)]
    pub value: Option<String>,
}

/// A port of a part.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Port {
    #[api(proto = 1)]
    pub name: String,
    #[api(proto = 2)]
    pub port: i32,
    #[api(proto = 3)]
    pub protocol: Option<String>,
}

/// How it is seen whether a part works.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Probe {
    #[api(proto = 1)]
    pub path: String,
    #[api(proto = 2)]
    pub port: IntOrString,
    #[api(proto = 3)]
    pub period_seconds: Option<i32>,
}

/// What is seen of a machine.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MachineStatus {
    #[api(proto = 1)]
    pub observed_generation: Option<i64>,
    #[serde(default)]
    #[api(proto = 2, list = map(key = kind))]
    pub conditions: Vec<Condition>,
}

fn machine(parts: usize) -> Document {
    let variable = |n: usize| json!({"name": format!("VARIABLE_{n}"), "value": format!("the value of {n}")});
    let part = |n: usize| {
        json!({
            "name": format!("part-{n}"), "image": format!("registry.example.com/team/part:v1.2.{n}"),
            "arguments": ["--verbose", "--config=/etc/part.yaml", format!("--shard={n}")],
            "environment": (0..4).map(variable).collect::<Vec<_>>(),
            "ports": [{"name": "http", "port": 8080, "protocol": "TCP"}, {"name": "metrics", "port": 9090}],
            "limits": {"cpu": "500m", "memory": "128Mi"},
            "probe": {"path": "/healthz", "port": "http", "periodSeconds": 10},
        })
    };
    json!({
        "apiVersion": "bench.example.com/v1", "kind": "Machine",
        "metadata": metadata("machine", &json!({"f:spec": {"f:replicas": {}, "f:parts": {".": {}}}})),
        "spec": {
            "replicas": 3, "paused": false, "parts": (0..parts).map(part).collect::<Vec<_>>(),
            "description": "what this machine is for, in a sentence of about the usual length",
        },
        "status": {"observedGeneration": 3, "conditions": [{
            "type": "Ready", "status": "True", "lastTransitionTime": "2026-11-21T08:21:36Z", "reason": "AllUp",
            "message": "all parts work",
        }]},
    })
}
