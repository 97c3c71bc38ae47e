//! The documents of discovery, with their members in kube-apiserver's order.

use serde::Serialize;
use serde_json::Value;

use super::{
    groups::{Group, Version},
    resources::{self, DiscoveredResource, Resource},
};

/// The resources of a group and version.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ResourceList<'g> {
    kind: &'static str,
    api_version: &'static str,
    group_version: String,
    resources: Vec<Resource<'g>>,
}

impl<'g> ResourceList<'g> {
    /// The resources of a version.
    pub(super) fn of(group: &Group, version: &'g Version) -> Self {
        let resources = version.kinds.iter().flat_map(|served| {
            resources::of(&served.kind, &served.records.stored().group_version, &served.endpoints, served.is_ending())
        });
        Self {
            kind: "APIResourceList",
            api_version: "v1",
            group_version: group_version(&group.name, &version.name),
            resources: resources.collect(),
        }
    }
}

/// All groups.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct GroupList<'g> {
    pub kind: &'static str,
    pub api_version: &'static str,
    pub groups: Vec<GroupEntry<'g>>,
}

/// A group with its versions; in a list without its own type.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct GroupEntry<'g> {
    #[serde(skip_serializing_if = "str::is_empty")]
    kind: &'static str,
    #[serde(skip_serializing_if = "str::is_empty")]
    api_version: &'static str,
    name: &'g str,
    versions: Vec<GroupedVersion<'g>>,
    preferred_version: Option<GroupedVersion<'g>>,
}

#[derive(Clone, Serialize)]
#[serde(rename_all = "camelCase")]
struct GroupedVersion<'g> {
    group_version: String,
    version: &'g str,
}

impl<'g> GroupEntry<'g> {
    /// The entry of a group.
    pub(super) fn of(group: &'g Group) -> Self {
        let version =
            |name: &'g String| GroupedVersion { group_version: group_version(&group.name, name), version: name };
        let versions: Vec<_> = group.versions.iter().map(|one| version(&one.name)).collect();
        let preferred_version = versions.first().cloned();
        Self { kind: "", api_version: "", name: &group.name, versions, preferred_version }
    }

    /// The entry as a document of its own.
    pub(super) fn alone(group: &'g Group) -> Self {
        Self { kind: "APIGroup", api_version: "v1", ..Self::of(group) }
    }
}

/// The versions of the core group.
#[derive(Serialize)]
pub(super) struct Versions<'d> {
    pub kind: &'static str,
    pub versions: &'d [String],
    #[serde(rename = "serverAddressByClientCIDRs")]
    pub server_addresses: [ServerAddress<'d>; 1],
}

/// The address that clients in a network reach the server by.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ServerAddress<'d> {
    #[serde(rename = "clientCIDR")]
    pub client_cidr: &'static str,
    pub server_address: &'d str,
}

/// The answer of `/version`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct VersionAnswer<'v> {
    pub major: &'v str,
    pub minor: &'v str,
    pub git_version: &'v str,
    pub git_commit: &'static str,
    pub git_tree_state: &'static str,
    pub build_date: &'static str,
    pub go_version: &'static str,
    pub compiler: &'static str,
    pub platform: &'v str,
}

/// Aggregated discovery.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DiscoveryList<'g> {
    kind: &'static str,
    api_version: String,
    metadata: Metadata<'g>,
    items: Vec<DiscoveredGroup<'g>>,
}

#[derive(Default, Serialize)]
struct Metadata<'g> {
    #[serde(skip_serializing_if = "str::is_empty")]
    name: &'g str,
}

#[derive(Serialize)]
struct DiscoveredGroup<'g> {
    metadata: Metadata<'g>,
    versions: Vec<DiscoveredVersion<'g>>,
}

#[derive(Serialize)]
struct DiscoveredVersion<'g> {
    version: &'g str,
    #[serde(skip_serializing_if = "Resources::is_absent")]
    resources: Resources<'g>,
    freshness: &'static str,
}

/// The resources of a version.
#[derive(Serialize)]
#[serde(untagged)]
enum Resources<'g> {
    Local(Vec<DiscoveredResource<'g>>),
    /// Those that a server behind has sent.
    Remote(&'g Value),
}

impl Resources<'_> {
    /// True if a server behind has sent none.
    fn is_absent(&self) -> bool {
        matches!(self, Self::Remote(sent) if sent.as_array().is_none_or(Vec::is_empty))
    }
}

impl<'g> DiscoveryList<'g> {
    /// Groups in a version of the API of aggregated discovery.
    pub(super) fn of(groups: impl Iterator<Item = &'g Group>, version: &str) -> Self {
        let items = groups.map(|group| DiscoveredGroup {
            metadata: Metadata { name: &group.name },
            versions: group.versions.iter().map(DiscoveredVersion::of).collect(),
        });
        Self {
            kind: "APIGroupDiscoveryList",
            api_version: format!("apidiscovery.k8s.io/{version}"),
            metadata: Metadata::default(),
            items: items.collect(),
        }
    }
}

impl<'g> DiscoveredVersion<'g> {
    fn of(version: &'g Version) -> Self {
        if let Some(remote) = &version.remote {
            let freshness = if remote.is_fresh { "Current" } else { "Stale" };
            return Self { version: &version.name, resources: Resources::Remote(&remote.resources), freshness };
        }
        let kinds = version.kinds.iter();
        let resources =
            kinds.filter_map(|served| resources::discovered(&served.kind, &served.endpoints, served.is_ending()));
        let resources = Resources::Local(resources.collect());
        Self { version: &version.name, resources, freshness: "Current" }
    }
}

/// A group and version as one text.
fn group_version(group: &str, version: &str) -> String {
    if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") }
}
