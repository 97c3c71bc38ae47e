//! Widget, as the conformance kit's `widget.yaml` declares it. Other crates include this file by its path.

#![allow(unreachable_pub, missing_docs, reason = "crates that include the file keep it to themselves")]

use std::collections::BTreeMap;

use kindsmith::{ApiType, ObjectMeta, Resource, Time};
use serde::{Deserialize, Serialize};

#[derive(Resource, Clone, Debug)]
#[resource(group = "conformance.example.com", version = "v1", shortname = "wd", category = "all", status)]
#[resource(scale(replicas = spec.replicas, status = status.replicas, selector = status.selector))]
#[resource(selectable(spec.color))]
#[resource(column("Size", path = spec.size, description = "How large it is"))]
#[resource(column("Color", path = spec.color))]
#[resource(column("Phase", path = status.phase, priority = 1))]
#[resource(column("Age", path = metadata.creation_timestamp))]
pub struct Widget {
    pub metadata: ObjectMeta,
    pub spec: WidgetSpec,
    pub status: Option<WidgetStatus>,
}

#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WidgetSpec {
    #[api(minimum = 1, maximum = 100)]
    pub size: i32,
    #[api(default = Color::Red)]
    pub color: Color,
    #[api(max_length = 64)]
    pub description: Option<String>,
    #[api(pattern = "^[A-Z]{2}-[0-9]+$")]
    pub code: Option<String>,
    #[api(default = 1, minimum = 0)]
    pub replicas: i32,
    pub paused: Option<bool>,
    #[api(list = map(key = name))]
    #[serde(default)]
    pub ports: Vec<Port>,
    #[api(list = set)]
    #[serde(default)]
    pub tags: Vec<String>,
    #[api(list = atomic, max_items = 5)]
    #[serde(default)]
    pub args: Vec<String>,
    #[api(max_properties = 3)]
    #[serde(default)]
    pub options: BTreeMap<String, String>,
    pub template: Option<Template>,
}

#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
pub enum Color {
    Red,
    Green,
    Blue,
}

#[allow(clippy::struct_field_names, reason = "the names are widget.yaml's")]
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
pub struct Port {
    pub name: String,
    #[api(minimum = 1, maximum = 65535)]
    pub port: i32,
    #[api(default = Protocol::Tcp)]
    pub protocol: Protocol,
}

#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
pub enum Protocol {
    #[serde(rename = "TCP")]
    Tcp,
    #[serde(rename = "UDP")]
    Udp,
}

#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
pub struct Template {
    pub image: Option<String>,
    #[api(list = atomic)]
    #[serde(default)]
    pub env: Vec<Variable>,
}

#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
pub struct Variable {
    pub name: String,
    pub value: Option<String>,
}

#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WidgetStatus {
    pub phase: Option<String>,
    pub replicas: Option<i32>,
    pub selector: Option<String>,
    pub observed_generation: Option<i64>,
    #[api(list = map(key = type))]
    #[serde(default)]
    pub conditions: Vec<WidgetCondition>,
}

// Less strict than the shared `Condition`: only type and status are required here.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WidgetCondition {
    pub r#type: String,
    pub status: ConditionStatus,
    pub reason: Option<String>,
    pub message: Option<String>,
    pub last_transition_time: Option<Time>,
}

#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
pub enum ConditionStatus {
    True,
    False,
    Unknown,
}
