//! The kind.
#![allow(unreachable_pub, reason = "KubeSchema declares the type once more, where nothing reaches it")]

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A tenant of the platform: a team with a namespace of its own.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, KubeSchema)]
#[kube(group = "platform.example.com", version = "v1", kind = "Tenant", shortname = "tn", category = "platform")]
#[kube(status = "TenantStatus", selectable = ".spec.plan")]
#[kube(printcolumn = r#"{"name": "Plan", "type": "string", "jsonPath": ".spec.plan"}"#)]
#[kube(printcolumn = r#"{"name": "Namespace", "type": "string", "jsonPath": ".status.namespace"}"#)]
#[kube(
    printcolumn = r#"{"name": "Ready", "type": "string", "jsonPath": ".status.conditions[?(@.type==\"Ready\")].status"}"#
)]
#[kube(printcolumn = r#"{"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}"#)]
#[x_kube(
    validation = Rule::new("self.plan != 'Free' || size(self.members) <= 3").message("a free tenant has at most 3 members")
)]
#[serde(rename_all = "camelCase")]
pub struct TenantSpec {
    /// The mail address of the contact of the tenant.
    #[schemars(regex(pattern = r"^[^@\s]+@[^@\s]+$"))]
    pub contact: String,
    /// How much the tenant may use.
    #[serde(default)]
    pub plan: Plan,
    /// The users who may work in the namespace.
    #[serde(default)]
    #[schemars(length(max = 100))]
    pub members: Vec<String>,
    /// After how many days without use the tenant is reminded.
    #[schemars(range(min = 1))]
    pub remind_after_days: Option<u16>,
}

/// How much a tenant may use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub enum Plan {
    /// What is left over.
    #[default]
    Free,
    /// A share of its own.
    Team,
}

/// The observed state of a tenant.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TenantStatus {
    /// The namespace of the tenant.
    pub namespace: Option<String>,
    /// The generation that the controller has seen.
    pub observed_generation: Option<i64>,
    /// The latest observations.
    #[serde(default)]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Vec<Condition>,
}
