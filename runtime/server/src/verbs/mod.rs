//! The verbs, one file each; `pipeline` fixes the order of a write, once.
//! Works on documents and kinds and knows no HTTP; `status` makes a Status of an error.
//!
//! From the bottom, each file imports from earlier ones only:
//!
//! - `error` and `status`, `metadata` of documents, and `stored` objects as they are read;
//! - what writers wait for: `turns`, `waiting` for the user's code outside of them, and `retry`;
//! - `write`, the context of one write, and its steps: `scale`, `ownership`, `system`, `decode`, `hooks`, `versions`,
//!   `admission` and `plugins`;
//! - `pipeline`, which has the order of these steps; `commit`, which stores their result; and `rewrite`, which makes both
//!   again if another write came first;
//! - the verbs.
use std::sync::{Arc, OnceLock, Weak};

use bytes::Bytes;

use self::error::MODIFIED;
use crate::{
    auth::{self, Authorize, Decision, Masters, User},
    cache::{Cache, Object},
    codec::DecodedDocument,
    kind::{Changes, endpoint::Endpoint, model::Scope},
    meta::{FieldErrorKind, Revision, Warnings},
    metrics,
    registry::{Registry, ResourceEntry},
    schema::{Document, Meter},
    storage::Store,
};

pub mod admission;
mod apply;
pub(crate) mod bind;
mod commit;
mod continue_token;
mod create;
mod decode;
mod delete;
mod delete_collection;
pub(crate) mod error;
mod get;
mod handled;
mod hooks;
mod items;
mod lifecycle;
pub(crate) mod list;
mod metadata;
mod migrate;
mod names;
mod owners;
mod ownership;
mod patch;
mod pipeline;
mod plugins;
mod preconditions;
mod remove_resource;
mod retry;
mod revisions;
mod rewrite;
mod scale;
mod selection;
mod stale;
pub(crate) mod status;
mod stored;
mod system;
#[cfg(test)]
mod tests;
mod turns;
mod update;
mod versions;
mod waiting;
mod watch;
mod watch_events;
mod write;

pub(crate) use admission::{Admission, Attributes};
pub(crate) use error::Error;
pub(crate) use handled::show;
pub(crate) use items::{ItemIter, ItemPosition, Items};
pub(crate) use patch::ParsedPatch;
pub(crate) use plugins::Plugin;
pub(crate) use retry::Retry;
pub(crate) use stored::ConversionFailures;
pub(crate) use waiting::Slot;
pub(crate) use watch_events::Watch;
pub(crate) use write::Subject;

/// The verbs over one store, for HTTP, controllers and tests.
pub struct Verbs {
    /// The kinds.
    pub registry: Arc<Registry>,
    /// The cache.
    pub cache: Arc<Cache>,
    /// The store.
    pub store: Arc<dyn Store>,
    /// The plugins of admission, in order.
    admission: Vec<Plugin>,
    /// How long all of them together took.
    admission_durations: metrics::Admission,
    /// Serializes writers of one object that conflict.
    turns: turns::Turns,
    /// The authorizer, once the server has its roles.
    authorizer: OnceLock<Arc<dyn Authorize>>,
    /// This, for the clients of the user's code.
    this: Weak<Self>,
}

impl Verbs {
    /// The verbs over a registry, its cache, and the store of both.
    pub fn new(registry: Arc<Registry>, cache: Arc<Cache>, store: Arc<dyn Store>) -> Arc<Self> {
        Self::with_admission(registry, cache, store, Vec::new())
    }

    /// The verbs with plugins of admission.
    pub fn with_admission(
        registry: Arc<Registry>,
        cache: Arc<Cache>,
        store: Arc<dyn Store>,
        admission: Vec<Plugin>,
    ) -> Arc<Self> {
        Arc::new_cyclic(|this| Self {
            registry,
            cache,
            store,
            admission,
            admission_durations: metrics::Admission::default(),
            turns: turns::Turns::default(),
            authorizer: OnceLock::new(),
            this: this.clone(),
        })
    }

    /// Says who may do what, for the user's code that asks. Until then, only members of `system:masters` may.
    pub(crate) fn authorize_by(&self, authorizer: Arc<dyn Authorize>) {
        drop(self.authorizer.set(authorizer));
    }

    /// The decision about a request of a user, for the user's code.
    pub(crate) async fn decide(&self, attributes: &auth::Attributes<'_>) -> Decision {
        match self.authorizer.get() {
            Some(authorizer) => authorizer.authorize(attributes).await,
            None => Masters.authorize(attributes).await,
        }
    }

    /// This, for clients that outlive the request.
    pub(crate) fn shared(&self) -> Arc<Self> {
        self.this.upgrade().expect("a request holds the server")
    }
}

/// A patch by its media type.
#[derive(Clone, Debug)]
pub enum Patch {
    /// `application/json-patch+json`.
    Json(Bytes),
    /// `application/merge-patch+json`.
    Merge(Bytes),
    /// `application/strategic-merge-patch+json`.
    Strategic(Bytes),
    /// One of these, parsed already.
    Parsed(Arc<ParsedPatch>),
    /// `application/apply-patch+yaml` or `application/apply-patch+cbor`, decoded: the applied configuration.
    Apply(DecodedDocument),
}

/// An authorized request.
#[derive(Clone)]
pub struct Request {
    /// The user.
    pub user: Arc<User>,
    /// The resource, in the requested version.
    pub resource: Arc<ResourceEntry>,
    /// The namespace of the path; empty for all namespaces and for cluster-scoped kinds.
    pub namespace: String,
    /// The name of the path; empty for a collection.
    pub name: String,
    /// The subresource; empty for the object itself.
    pub subresource: Arc<str>,
    /// Warnings for the client by the user's code.
    pub warnings: Arc<Warnings>,
    /// Counts the work that the request causes.
    pub meter: Arc<Meter>,
    /// The slot of a heavy request, in which it is processed.
    pub(crate) slot: Option<Arc<Slot>>,
}

impl Request {
    /// A request of a user for all objects of a resource.
    pub fn for_all(user: &Arc<User>, resource: &Arc<ResourceEntry>) -> Self {
        let (user, resource, subresource, warnings) = (user.clone(), resource.clone(), "".into(), Arc::default());
        let (namespace, name, meter) = (String::new(), String::new(), Arc::default());
        Self { user, resource, namespace, name, subresource, warnings, meter, slot: None }
    }

    /// The same for the object at a key, with a meter of its own and without a slot.
    #[must_use]
    pub fn at(mut self, key: &str) -> Self {
        (self.meter, self.slot) = (Arc::default(), None);
        match key.split_once('/') {
            Some((namespace, name)) if self.resource.kind.shared.scope == Scope::Namespaced => {
                namespace.clone_into(&mut self.namespace);
                name.clone_into(&mut self.name);
            }
            _ => key.clone_into(&mut self.name),
        }
        self
    }

    /// The endpoint of the request; `None` if its kind has no such subresource.
    fn endpoint(&self) -> Option<&Endpoint> {
        self.resource.endpoint(&self.subresource)
    }

    /// True if the request is about an object's scale.
    pub fn is_scale(&self) -> bool {
        self.endpoint().is_some_and(Endpoint::is_scale)
    }

    /// The part of the stored object that a write may change. Fails with [`Error::MethodNotAllowed`] if its kind has no
    /// such subresource.
    fn changes(&self) -> Result<&Changes, Error> {
        self.endpoint().map(|endpoint| &endpoint.changes).ok_or(Error::MethodNotAllowed)
    }

    /// The key of the requested object, below the resource's prefix.
    pub fn key(&self) -> String {
        self.key_of(&self.name)
    }

    /// The key of an object in the request's namespace.
    pub(crate) fn key_of(&self, name: &str) -> String {
        if self.namespace.is_empty() { name.to_owned() } else { [self.namespace.as_str(), "/", name].concat() }
    }

    /// The error for a request that is forbidden for a reason.
    pub fn forbidden(&self, message: impl Into<String>) -> Error {
        let (resource, name) = (self.resource.kind.group_resource(), self.name.clone());
        Error::Forbidden { resource, name, message: message.into(), causes: Vec::new() }
    }

    /// The error for stored objects that cannot be read, given as keys and reasons. They may lack a webhook's conversion only.
    fn unreadable(&self, causes: Vec<(String, String)>, more: bool, awaits_conversion: bool) -> Error {
        let (resource, name) = (self.resource.kind.group_resource(), self.name.clone());
        Error::StoreRead { resource, name, causes, more, awaits_conversion }
    }

    /// A conflict about the requested object.
    fn conflict(&self, message: impl Into<String>) -> Error {
        Error::Conflict(self.resource.kind.group_resource(), self.name.clone(), message.into())
    }

    /// The conflict of a write of an outdated state.
    fn modified(&self) -> Error {
        self.conflict(MODIFIED)
    }

    /// The error that the requested object does not exist.
    fn not_found(&self) -> Error {
        Error::NotFound(self.resource.kind.group_resource(), self.name.clone())
    }
}

/// The answer of a verb about one object.
#[derive(Clone, Debug)]
pub enum Answer {
    /// An object of the kind, rendered.
    Object(Arc<Object>),
    /// An object of another kind, such as autoscaling/v1 Scale, with type meta.
    Document(Document),
}

/// The answer of a write.
#[derive(Clone, Debug)]
pub struct WriteResult {
    /// The object after the write.
    pub answer: Answer,
    /// True if the write created the object: 201 instead of 200.
    pub created: bool,
    /// Warnings for the client (`Warning: 299` headers).
    pub warnings: Vec<String>,
}

/// The answer of a deletion.
#[derive(Clone, Debug)]
pub enum DeleteResult {
    /// The object is marked, and waits for its finalizers or its grace period.
    Marked(Arc<Object>),
    /// The object was deleted: kube-apiserver answers a Status with name, group, plural and uid.
    Gone {
        /// The object's last state.
        object: Arc<Object>,
        /// Its uid.
        uid: String,
    },
    /// An unreadable object was deleted by force.
    Forced,
}

/// The answer of list and deletecollection.
pub struct List {
    /// The revision of the list.
    pub revision: Revision,
    /// The items, in key order.
    pub items: Items,
    /// The token for the next page.
    pub continue_token: Option<String>,
    /// The number of remaining items, if it is known (without selectors).
    pub remaining: Option<usize>,
}

/// The answer of watch.
pub struct WatchResult {
    /// Objects to send as ADDED before the watch's own events.
    pub initial: Items,
    /// After the initial events, send a bookmark at this revision with the annotation `k8s.io/initial-events-end`.
    pub initial_bookmark: Option<Revision>,
    /// True if the client allows bookmarks.
    pub bookmarks: bool,
    /// The events.
    pub watch: Watch,
}
