//! `CustomResourceDefinition`: what is stored as one is served at once, and again after a restart.
//!
//! The row of a definition in the store is a condition of every write of its objects, so that none is checked by another
//! definition than the current one, and none is left when the definition is gone. A definition that is deleted waits for its
//! objects; these wait for their own finalizers.
use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
    time::Duration,
};

use tokio::{
    sync::watch as signal,
    time::{sleep, sleep_until},
};

use self::{
    names::{NamesInUse, is_true, put_condition, status_with_names},
    reading::written,
    reread::REREAD_AFTER,
    retry::Retry,
    serving::{Outcome, ServeTasks},
};
use super::task_set::Tasks;
use crate::{
    auth::User,
    cache::{Object, Subscription},
    codec, crd,
    kind::Definition,
    meta::{Revision, options::WriteOptions},
    registry::ResourceEntry,
    schema::Document,
    storage::Hold,
    verbs::{Error, Request, Verbs},
};

pub(super) mod declared;
mod elsewhere;
mod hooks;
mod load;
mod names;
mod reading;
mod removal;
mod reread;
mod retry;
mod serving;

pub(crate) use declared::definition_kind;
pub(crate) use elsewhere::appears;
pub(crate) use reread::run as reread;

/// The finalizer by which a definition waits for its objects.
const FINALIZER: &str = "customresourcecleanup.apiextensions.k8s.io";
/// The field manager of the server's writes.
const MANAGER: &str = "kube-apiserver";
/// The wait after a watch that ended early, and before a failed definition is tried again. Each further wait doubles.
const WAIT: Duration = Duration::from_millis(100);
/// The longest wait.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// Serves the kinds that stored definitions define.
pub(crate) struct Definitions {
    access: Access,
    states: HashMap<String, DefinitionState>,
    /// Definitions whose names are in use by others.
    waiting: BTreeSet<String>,
    /// The registry's number when they were last tried because it had changed.
    generation: u64,
    /// The removals of definitions, by name.
    removals: Tasks<String, ()>,
    /// The tasks that serve definitions whose objects a webhook converts.
    servings: ServeTasks,
    /// Definitions that could not be served or written, for the store's sake mostly.
    failed: BTreeSet<String>,
    /// The failed definitions that tasks are trying again.
    retrying: BTreeSet<String>,
    retry: Retry,
    /// When objects that could not be read are read again.
    next_reread: Retry,
    /// True while this server decides about definitions: which names they get, what their conditions are, and when they are
    /// gone. The other servers of a store serve what it has decided.
    leads: bool,
}

/// The stored definitions.
#[derive(Clone)]
struct Access {
    api: Arc<Verbs>,
    definitions: Arc<ResourceEntry>,
    user: Arc<User>,
}

/// The state state of a definition.
#[derive(Default)]
struct DefinitionState {
    group: String,
    accepted: Document,
    /// The served definition and its resource, if there is one.
    served: Option<(Definition, Arc<ResourceEntry>)>,
    /// The version that it was read from: the definition's uid, generation and accepted names. Null if it has to be
    /// read again.
    source: Document,
    /// The revision of the row at which nothing was left to do.
    settled: Option<Revision>,
}

impl Access {
    fn request(&self, name: &str, subresource: &str) -> Request {
        Request { subresource: subresource.into(), ..Request::for_all(&self.user, &self.definitions).at(name) }
    }

    fn find(&self, name: &str) -> Option<(Arc<Object>, Document)> {
        let object = self.definitions.objects.snapshot().get(name)?;
        Some((object.clone(), read(&object)?))
    }

    /// The row of a definition as it was read.
    fn hold(&self, object: &Object) -> Hold {
        Hold { key: self.row(object.key()).into(), revision: Some(object.revision()) }
    }

    /// The key of a definition's row.
    fn row(&self, name: &str) -> String {
        format!("{}{name}", self.definitions.objects.prefix())
    }

    /// The resource that is registered now under the row of a definition.
    fn registered(&self, name: &str) -> Option<Arc<ResourceEntry>> {
        self.api.registry.declared_by(&self.row(name))
    }

    /// Writes the status. Another write meanwhile is no error: its event leads here again. Returns false if it failed.
    async fn write_status(&self, name: &str, definition: Document) -> bool {
        let options = WriteOptions::of_server(MANAGER);
        let (api, request) = (self.api.clone(), self.request(name, "status"));
        let write = async move { api.update(&request, definition, &options).await };
        match written(write).await {
            Ok(_) | Err(Error::Conflict(..) | Error::NotFound(..)) => true,
            Err(error) => {
                tracing::warn!(definition = name, ?error, "the status could not be written");
                false
            }
        }
    }
}

impl Definitions {
    /// Follows the definitions until the stop signal, or until the cache is closed.
    pub(super) async fn run(mut self, mut leads: signal::Receiver<bool>, mut stop: signal::Receiver<bool>) {
        loop {
            let now = *leads.borrow_and_update();
            self.take_part(now).await;
            tokio::select! {
                biased;
                _ = stop.wait_for(|stopping| *stopping) => break,
                ended = self.follow(&mut leads) => if ended { break },
            }
            sleep(WAIT).await;
        }
        self.removals.shutdown().await;
        self.servings.shutdown().await;
    }

    /// Begins or ends to decide about definitions. A leader looks at all of them again.
    async fn take_part(&mut self, leads: bool) {
        if leads == self.leads {
            return;
        }
        self.leads = leads;
        if leads {
            self.states.values_mut().for_each(|state| state.settled = None);
        } else {
            self.removals.shutdown().await;
            self.waiting.clear();
        }
    }

    /// Processes all definitions, then each change of them, until another server leads, or this one. Returns true when the cache
    /// is closed.
    async fn follow(&mut self, leads: &mut signal::Receiver<bool>) -> bool {
        let objects = self.access.definitions.objects.clone();
        let snapshot = objects.snapshot();
        let missing = self.states.keys().filter(|name| snapshot.get(name).is_none()).cloned();
        let all: BTreeSet<String> =
            snapshot.range("", None).map(|object| object.key().to_owned()).chain(missing).collect();
        for name in all {
            self.settle(&name).await;
        }
        let Ok(mut watch) = objects.watch(snapshot.revision(), Subscription::All, None).await else { return false };
        loop {
            let (name, outcome) = tokio::select! {
                Ok(()) = leads.changed() => return false,
                () = sleep_until(self.retry.at), if !self.failed.is_empty() => {
                    self.try_again().await;
                    continue;
                }
                event = watch.next() => match event {
                    None => return self.access.api.cache.is_closed(),
                    Some(Err(_)) => return false,
                    Some(Ok(event)) => (event.object.key().to_owned(), None),
                },
                Some((name, ended)) = self.removals.next() => {
                    if let Err(error) = ended {
                        tracing::error!(%error, "the removal of a definition broke off, and begins again");
                        sleep(WAIT).await;
                    }
                    (name, None)
                }
                Some((name, outcome)) = self.servings.next() => match outcome {
                    None => continue,
                    outcome => (name, outcome),
                },
                // Files, too, declare resources, and release their names.
                generation = self.access.api.registry.after(self.generation), if !self.waiting.is_empty() => {
                    self.generation = generation;
                    self.settle_waiting().await;
                    continue;
                }
                () = sleep_until(self.next_reread.at), if self.unread().next().is_some() => {
                    self.reread();
                    self.next_reread = self.next_reread.longer(REREAD_AFTER, reread::LONGEST_WAIT);
                    continue;
                }
            };
            let was_served = outcome.is_some();
            let freed = self.settle_with(&name, outcome).await;
            if was_served && self.unread().next().is_none() {
                self.next_reread = Retry::after(REREAD_AFTER);
            }
            self.end_retrying();
            if freed {
                self.settle_waiting().await;
            }
        }
    }

    /// Tries the definitions again whose names were in use.
    async fn settle_waiting(&mut self) {
        for name in self.waiting.clone() {
            self.settle(&name).await;
        }
    }

    /// Does what is due for a definition. Returns true if names may have become free.
    async fn settle(&mut self, name: &str) -> bool {
        self.settle_with(name, None).await
    }

    /// The same after a task has served the definition.
    async fn settle_with(&mut self, name: &str, outcome: Option<Outcome>) -> bool {
        if self.removals.has(name) {
            return false;
        }
        let refused = outcome.and_then(|outcome| self.note_served(name, outcome));
        let stored = self.access.definitions.objects.snapshot().get(name).map(|object| object.revision());
        if stored.is_some() && self.states.get(name).is_some_and(|state| state.settled == stored) {
            return false;
        }
        let Some((object, mut definition)) = self.access.find(name) else {
            self.end_serving(name).await;
            return self.forget(name).await;
        };
        if definition["metadata"]["deletionTimestamp"].is_string() {
            self.end_serving(name).await;
            if self.leads {
                self.remove(name, &definition);
            } else {
                self.end(name, &object);
            }
            return false;
        }
        let mut status = definition["status"].clone();
        if self.leads {
            status = status_with_names(&definition, &self.names_in_use(name, &definition));
        }
        let state = DefinitionState::of(&definition, &status);
        if is_true(&status, "NamesAccepted") || !self.leads {
            self.waiting.remove(name);
        } else {
            self.waiting.insert(name.to_owned());
        }
        let before = self.states.remove(name).unwrap_or_default();
        let freed = before.accepted != state.accepted;
        let (mut served, mut source, is_read) = (before.served, Document::Null, before.source == state.source);
        let mut is_settled = is_true(&status, "NamesAccepted");
        if is_settled || is_true(&status, "Established") {
            match self.serve(name, (&object, &definition, &status), (&mut served, is_read), refused).await {
                Ok(false) => is_settled = false,
                Ok(true) => {
                    source.clone_from(&state.source);
                    if !is_true(&status, "Established") && hooks::invalid_ca_bundle(&definition).is_some() {
                        let message = "The conversion webhook CABundle is invalid";
                        put_condition(&mut status, "Established", false, "InvalidCABundle", message);
                    } else if !is_true(&status, "Established") {
                        let message = "the initial names have been accepted";
                        put_condition(&mut status, "Established", true, "InitialNamesAccepted", message);
                    }
                }
                Err(error) => {
                    put_condition(&mut status, "Established", false, "NotServed", &error);
                    if definition["status"] != status || !self.leads {
                        tracing::error!(definition = name, error, "the definition cannot be served");
                    }
                    self.note_failure(name);
                    is_settled = false;
                }
            }
        }
        if self.leads && definition["status"] != status {
            is_settled = false;
            definition["status"] = status;
            if !self.access.write_status(name, definition).await {
                self.note_failure(name);
            }
        }
        let settled = is_settled.then(|| object.revision());
        self.states.insert(name.to_owned(), DefinitionState { served, source, settled, ..state });
        freed
    }

    /// The names in use in the group of a definition, by others.
    fn names_in_use(&self, name: &str, definition: &Document) -> NamesInUse {
        let group = definition["spec"]["group"].as_str().unwrap_or_default();
        let mut names_in_use = NamesInUse::default();
        for (_, state) in self.states.iter().filter(|(other, state)| *other != name && state.group == group) {
            names_in_use.add(&state.accepted);
        }
        let (resources, _) = self.access.api.registry.resources();
        let declared = |resource: &&Arc<ResourceEntry>| {
            let mut groups = resource.records.versions().definition().groups();
            resource.definition_row.is_none() && groups.any(|other| other == group)
        };
        for resource in resources.iter().filter(declared) {
            let names = resource.kind.names();
            names_in_use
                .resources
                .extend([&names.plural, &names.singular].into_iter().chain(&names.short_names).cloned());
            names_in_use.kinds.extend([names.kind.clone(), names.list_kind.clone()]);
        }
        names_in_use
    }
}

impl DefinitionState {
    fn of(definition: &Document, status: &Document) -> Self {
        let group = definition["spec"]["group"].as_str().unwrap_or_default().to_owned();
        let (metadata, accepted) = (&definition["metadata"], status["acceptedNames"].clone());
        let source = serde_json::json!([metadata["uid"], metadata["generation"], accepted]);
        Self { group, accepted, source, ..Self::default() }
    }
}

/// A stored definition, if it can be read.
fn read(object: &Object) -> Option<Document> {
    let unread = |error: &_| tracing::error!(definition = object.key(), %error, "the definition cannot be read");
    codec::from_written(object.json_bytes()).inspect_err(unread).ok()
}

/// The resource that a definition defines, under its accepted names.
fn defined(mut definition: Document) -> Result<Definition, String> {
    definition["spec"]["names"] = definition["status"]["acceptedNames"].take();
    let defined = crd::define_stored(&definition).map_err(|findings| {
        let errors: Vec<String> = findings.errors.iter().map(|fault| fault.error.to_string()).collect();
        errors.join(", ")
    })?;
    Ok(defined.definition)
}
