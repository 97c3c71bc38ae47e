//! What a cluster needs to serve the kinds of a program that runs behind it: an APIService for each version, the Service, and the
//! access of the program to the reviews of the host.

use std::collections::{BTreeMap, BTreeSet};

use kindsmith::{ByteString, kind::Definition, meta::by_priority};
use kindsmith_model::codec::yaml;
use serde_json::{Value, json};

use super::ExportFile;

/// The API group of roles.
const RBAC: &str = "rbac.authorization.k8s.io";

/// The Service in front of a program.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Service {
    /// Its namespace.
    pub namespace: String,
    /// Its name. The Pods have the label `app` with this value, and run as the service account of this name.
    pub name: String,
    /// The port on which the program listens.
    pub target_port: u16,
    /// The authorities of the program's certificate in PEM; without them, the host trusts those of its system.
    pub ca: Option<Vec<u8>>,
}

impl Service {
    /// A Service, for a program that listens on port 8443.
    pub fn new(namespace: impl Into<String>, name: impl Into<String>) -> Self {
        Self { namespace: namespace.into(), name: name.into(), target_port: 8443, ca: None }
    }
}

/// The manifests for the groups of these kinds, and warnings about kinds that cannot be served behind a cluster.
pub fn files<'d>(
    definitions: impl IntoIterator<Item = &'d Definition>,
    service: &Service,
) -> (Vec<ExportFile>, Vec<String>) {
    let mut groups: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for definition in definitions {
        let versions = definition.versions.iter().filter(|version| version.served);
        groups.entry(&definition.shared.group).or_default().extend(versions.map(|version| &*version.name));
    }
    let mut warnings = Vec::new();
    if groups.remove("").is_some() {
        warnings.push(
            "kinds of the core group cannot be served behind a cluster, which serves that group itself".to_owned(),
        );
    }
    let mut files = Vec::new();
    for (group, versions) in groups {
        let mut versions: Vec<&str> = versions.into_iter().collect();
        // The most preferred version last: it has the highest priority.
        versions.sort_by(|a, b| by_priority(b, a));
        let services = versions.iter().zip(1_i32..).map(|(version, at)| api_service(group, version, 10 * at, service));
        files.push(ExportFile::new(format!("apiservice_{group}.yaml"), documents(services)));
    }
    if !files.is_empty() {
        files.push(ExportFile::new("service.yaml", documents([service_of(service)])));
        files.push(ExportFile::new("access.yaml", documents(access(service))));
    }
    (files, warnings)
}

fn documents(documents: impl IntoIterator<Item = Value>) -> String {
    let mut text = Vec::new();
    for document in documents {
        text.extend_from_slice(b"---\n");
        yaml::encode(&document, &mut text);
    }
    String::from_utf8_lossy(&text).into_owned()
}

fn api_service(group: &str, version: &str, priority: i32, service: &Service) -> Value {
    let mut spec = json!({
        "group": group,
        "version": version,
        "groupPriorityMinimum": 1000,
        "versionPriority": priority,
        "service": {"namespace": service.namespace, "name": service.name, "port": 443},
    });
    if let Some(ca) = &service.ca {
        spec["caBundle"] = json!(ByteString(ca.clone()));
    }
    json!({
        "apiVersion": "apiregistration.k8s.io/v1",
        "kind": "APIService",
        "metadata": {"name": format!("{version}.{group}")},
        "spec": spec,
    })
}

fn service_of(service: &Service) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": service.name, "namespace": service.namespace},
        "spec": {
            "selector": {"app": service.name},
            "ports": [{"name": "https", "port": 443, "targetPort": service.target_port}],
        },
    })
}

/// The service account, which may have tokens and access reviewed, and may read the authorities that the host publishes.
fn access(service: &Service) -> [Value; 3] {
    let Service { namespace, name, .. } = service;
    let subjects = json!([{"kind": "ServiceAccount", "name": name, "namespace": namespace}]);
    let account = json!({
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": {"name": name, "namespace": namespace},
    });
    let delegator = json!({
        "apiVersion": format!("{RBAC}/v1"),
        "kind": "ClusterRoleBinding",
        "metadata": {"name": format!("{namespace}:{name}:auth-delegator")},
        "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": "system:auth-delegator"},
        "subjects": subjects,
    });
    let reader = json!({
        "apiVersion": format!("{RBAC}/v1"),
        "kind": "RoleBinding",
        "metadata": {"name": format!("{namespace}:{name}:auth-reader"), "namespace": "kube-system"},
        "roleRef": {"apiGroup": RBAC, "kind": "Role", "name": "extension-apiserver-authentication-reader"},
        "subjects": subjects,
    });
    [account, delegator, reader]
}
