//! A controller of a cluster, to copy from with its tests. It knows nothing of Kindsmith, which its tests alone use.
//!
//! A [`Database`] runs in a Deployment, and each of its versions has a Job that migrates the data, which must not run twice.
//! [`controller`] survives what happens to clients of Kubernetes: conflicts, refusals, answers that are lost, watches that end.
//! `tests/faults.rs` lets each of these happen to it, and to controllers that do not survive it.

pub mod controller;

use kube::CustomResource;
use serde::{Deserialize, Serialize};

/// The desired state of a database. `config/crd` has its definition.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize)]
#[kube(group = "example.com", version = "v1", kind = "Database", namespaced, status = "DatabaseStatus")]
#[kube(schema = "disabled")]
pub struct DatabaseSpec {
    /// The version of the schema.
    pub version: String,
    /// The number of pods.
    pub replicas: Option<i32>,
}

/// The observed state of a database.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct DatabaseStatus {
    /// The version to which the data was migrated.
    pub version: Option<String>,
}

impl Database {
    /// A database with a name and a version.
    pub fn named(name: &str, version: &str) -> Self {
        Self::new(name, DatabaseSpec { version: version.to_owned(), replicas: None })
    }

    /// The version in the status.
    pub fn migrated(&self) -> Option<&str> {
        self.status.as_ref()?.version.as_deref()
    }
}
