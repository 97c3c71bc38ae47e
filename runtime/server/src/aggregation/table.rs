//! The APIService objects of one state of the cache, read once. What is the same as before keeps its connections.
use std::{collections::HashMap, fmt, sync::Arc};

use super::{
    RemoteServer,
    server::{Address, ServerSettings},
    tls::ProxyIdentity,
};
use crate::{
    builtin::{APIService, api_services::GROUP},
    cache::{Object, Snapshot},
    meta::{Revision, url::Url},
    webhook::Resolver,
};

/// The annotation with the URL of a server that is no service of a cluster, such as `https://10.0.0.7:8443`.
pub(crate) const URL: &str = "kindsmith.dev/url";

/// A service.
pub(crate) struct Entry {
    /// The name of its object.
    pub name: String,
    /// The group; empty for the core group.
    pub group: String,
    /// The version.
    pub version: String,
    /// The priority of the group, and of the version inside of it; the highest comes first.
    pub priority: (i32, i32),
    /// True if its condition says that it is available.
    pub is_available: bool,
    /// The server; `None` if this server serves the group and version itself.
    pub server: Option<Arc<RemoteServer>>,
    revision: Revision,
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// All services, by their groups.
#[derive(Default)]
pub(crate) struct Table {
    groups: HashMap<String, Vec<Arc<Entry>>>,
    /// Grows with each change of what discovery shows of them.
    pub generation: u64,
}

/// A table, and the state that it was made from.
#[derive(Default)]
pub(super) struct Compiled {
    pub state: Option<Snapshot>,
    pub table: Arc<Table>,
}

impl Compiled {
    pub(super) fn is_of(&self, state: &Snapshot) -> bool {
        self.state.as_ref().is_some_and(|known| known.is_same(state))
    }
}

impl Table {
    /// The service of a group and version.
    pub(crate) fn find(&self, group: &str, version: &str) -> Option<&Arc<Entry>> {
        self.groups.get(group)?.iter().find(|entry| entry.version == version)
    }

    /// All services, in no order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Arc<Entry>> {
        self.groups.values().flatten()
    }

    /// The services that other servers answer.
    pub(crate) fn remotes(&self) -> impl Iterator<Item = (&Arc<Entry>, &Arc<RemoteServer>)> {
        self.iter().filter_map(|entry| Some((entry, entry.server.as_ref()?)))
    }

    /// The table of a later state.
    pub(super) fn after(
        &self,
        state: &Snapshot,
        resolver: Option<&Resolver>,
        identity: &Arc<dyn ProxyIdentity>,
    ) -> Self {
        let mut table = Self { groups: HashMap::new(), generation: self.generation };
        let mut has_changed = false;
        for object in state.range("", None) {
            // The name is that of version and group, so that unchanged objects need not be read.
            let known = object.name().split_once('.').and_then(|(version, group)| self.find(group, version));
            let entry = if let Some(known) = known.filter(|known| known.revision == object.revision()) {
                known.clone()
            } else {
                let Ok(service) = serde_json::from_slice::<APIService>(object.json_bytes()) else { continue };
                let entry = Arc::new(Entry::of(object, service, known, resolver, identity));
                has_changed |= known.is_none_or(|known| !known.looks_like(&entry));
                entry
            };
            table.groups.entry(entry.group.clone()).or_default().push(entry);
        }
        if has_changed || table.iter().count() != self.iter().count() {
            table.generation += 1;
        }
        table
    }
}

impl Entry {
    fn of(
        object: &Object,
        service: APIService,
        known: Option<&Arc<Self>>,
        resolver: Option<&Resolver>,
        identity: &Arc<dyn ProxyIdentity>,
    ) -> Self {
        // The kind itself stays local, so that this can be undone.
        let settings = settings(&service).filter(|_| service.spec.group != GROUP);
        let server = settings.map(|settings| {
            let same = known.and_then(|known| known.server.as_ref()).filter(|server| server.settings == settings);
            same.cloned().unwrap_or_else(|| Arc::new(RemoteServer::new(settings, resolver.cloned(), identity.clone())))
        });
        Self {
            name: service.metadata.name,
            priority: (service.spec.group_priority_minimum, service.spec.version_priority),
            is_available: service.status.is_available(),
            group: service.spec.group,
            version: service.spec.version,
            server,
            revision: object.revision(),
        }
    }

    /// A group and version that this server serves.
    #[cfg(test)]
    pub(super) fn local(group: &str, version: &str) -> Self {
        let (group, version) = (group.to_owned(), version.to_owned());
        let name = format!("{version}.{group}");
        Self { name, group, version, priority: (1, 1), is_available: true, server: None, revision: Revision::default() }
    }

    /// True if discovery shows both in the same way.
    fn looks_like(&self, other: &Self) -> bool {
        let server = |entry: &Self| entry.server.as_ref().map(Arc::as_ptr);
        self.priority == other.priority && self.is_available == other.is_available && server(self) == server(other)
    }

    /// The path of its discovery document.
    pub(crate) fn path(&self) -> String {
        match self.group.as_str() {
            "" => format!("/api/{}", self.version),
            group => format!("/apis/{group}/{}", self.version),
        }
    }
}

/// How to reach the server of a service; `None` if this server is meant.
pub(super) fn settings(service: &APIService) -> Option<ServerSettings> {
    let reference = service.spec.service.as_ref()?;
    let port = reference.port.and_then(|port| u16::try_from(port).ok()).unwrap_or(443);
    let url = service.metadata.annotations.get(URL).map(|url| url_address(url));
    let address =
        url.unwrap_or_else(|| Ok(Address::Service(reference.namespace.clone(), reference.name.clone(), port)));
    let (ca_bundle, insecure) = (service.spec.ca_bundle.clone(), service.spec.insecure_skip_tls_verify);
    Some(ServerSettings { address, ca_bundle: ca_bundle.unwrap_or_default().0, insecure })
}

/// The address in the annotation.
fn url_address(text: &str) -> Result<Address, String> {
    let wrong = |why: &str| format!("the annotation {URL} of the APIService is {text:?}: {why}");
    let url = Url::parse(text).map_err(|why| wrong(&why))?;
    let is_bare = matches!(url.path, "" | "/") && url.query.is_empty() && url.fragment.is_empty() && url.user.is_none();
    if url.scheme != "https" || url.host.is_empty() || !is_bare {
        return Err(wrong("it must be https://HOST or https://HOST:PORT"));
    }
    let port = url.port_or(443).ok_or_else(|| wrong("the port must be between 1 and 65535"))?;
    Ok(Address::Url(url.host.to_owned(), port))
}
