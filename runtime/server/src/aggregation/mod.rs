//! In front of other API servers: which servers the APIService objects name, connections to them, whether they are available, and
//! what they serve. Knows requests only as what it sends; `http` decides what goes on.
//!
//! - `table`: the objects, read once for each state of the cache;
//! - `server`: connections to one server;
//! - `headers`: the user as servers behind read it;
//! - `availability`: checks the servers, and writes the condition;
//! - `registration`: an object for each group and version that this server serves itself;
//! - `documents`: the discovery documents of the servers, and where their OpenAPI documents are;
//! - `priority`: the order of groups and versions.
mod availability;
mod documents;
mod headers;
mod priority;
mod registration;
mod server;
mod table;
mod tls;

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use arc_swap::ArcSwap;
use tokio::{sync::Notify, task::JoinSet};

use self::{documents::Fetched, table::Compiled};
pub(crate) use self::{
    documents::{Discovered, RemoteDocument, RemoteVersion},
    headers::{identify, names_user},
    priority::{Priority, of_local},
    server::{RemoteBody, RemoteServer, Unreachable},
    table::{Entry, Table},
    tls::ProxyIdentity,
};
use crate::{cache, tasks, webhook::Resolver};

/// How long a server behind may take to answer what the server in front asks on its own, as in kube-aggregator.
pub(crate) const CHECK_WITHIN: Duration = Duration::from_secs(5);
/// The user of such requests.
const CHECKER: &str = "system:kube-aggregator";

/// The servers behind this one.
pub struct Aggregation {
    /// The APIService objects.
    objects: Arc<cache::Resource>,
    resolver: Option<Resolver>,
    identity: Arc<dyn ProxyIdentity>,
    compiled: ArcSwap<Compiled>,
    /// Locked while a change is read, so that it is read once.
    compiling: Mutex<()>,
    /// The documents of servers behind.
    fetched: ArcSwap<Fetched>,
    /// Notified when a server could not be reached.
    failed: Notify,
    /// Reads documents; ended on drop.
    reading: Mutex<JoinSet<()>>,
}

impl Aggregation {
    /// The servers that these objects name, whose documents are read from now on. The certificate identifies this server to them.
    pub(crate) fn start(
        objects: Arc<cache::Resource>,
        resolver: Option<Resolver>,
        identity: Arc<dyn ProxyIdentity>,
    ) -> Arc<Self> {
        let started = Arc::new(Self {
            objects,
            resolver,
            identity,
            compiled: ArcSwap::default(),
            compiling: Mutex::default(),
            fetched: ArcSwap::default(),
            failed: Notify::new(),
            reading: Mutex::default(),
        });
        let reading = tasks::boxed(documents::follow(Arc::downgrade(&started)));
        started.reading.lock().unwrap_or_else(PoisonError::into_inner).spawn(reading);
        started
    }

    /// The services as of now.
    pub(crate) fn table(&self) -> Arc<Table> {
        let state = self.objects.snapshot();
        let compiled = self.compiled.load();
        if compiled.is_of(&state) {
            return compiled.table.clone();
        }
        let _one_at_a_time = self.compiling.lock().unwrap_or_else(PoisonError::into_inner);
        let state = self.objects.snapshot();
        let compiled = self.compiled.load();
        if compiled.is_of(&state) {
            return compiled.table.clone();
        }
        let table = Arc::new(compiled.table.after(&state, self.resolver.as_ref(), &self.identity));
        self.compiled.store(Arc::new(Compiled { state: Some(state), table: table.clone() }));
        table
    }

    /// The service that answers requests to a group and version, unless this server does.
    pub(crate) fn remote(&self, group: &str, version: &str) -> Option<Arc<Entry>> {
        let table = self.table();
        let entry = table.find(group, version)?;
        entry.server.is_some().then(|| entry.clone())
    }

    /// Says that a server could not be reached, so that it is checked at once.
    pub(crate) fn report_failure(&self) {
        self.failed.notify_one();
    }
}
