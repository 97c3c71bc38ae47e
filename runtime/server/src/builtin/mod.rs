//! The kinds every control plane needs, and the controllers that come with them.

use std::{sync::Arc, time::Duration};

use serde_json::json;
use tokio::{sync::watch, task::JoinHandle};

use crate::{
    Resource,
    auth::User,
    kind::Kind,
    meta::{Time, options::WriteOptions},
    schema::Document,
    tasks,
    verbs::{Error, Request, Verbs},
};

pub(crate) mod accounts;
pub mod api_services;
pub(crate) mod autoscaling;
mod config_map;
mod definitions;
mod event;
pub mod events;
pub(crate) mod eviction;
mod gc;
mod grace;
mod keys;
mod lease;
mod lifecycle;
mod namespace;
pub(crate) mod rbac;
mod reviews;
mod secret;
mod service_account;
mod task_set;
#[cfg(test)]
mod tests;
mod watched_resources;

pub use accounts::{BoundObjectReference, TokenRequest, TokenRequestSpec, TokenRequestStatus};
pub use api_services::APIService;
pub use config_map::ConfigMap;
pub use definitions::declared::{
    CustomResourceColumnDefinition, CustomResourceConversion, CustomResourceDefinition,
    CustomResourceDefinitionCondition, CustomResourceDefinitionNames, CustomResourceDefinitionSpec,
    CustomResourceDefinitionStatus, CustomResourceDefinitionVersion, CustomResourceSubresourceScale,
    CustomResourceSubresourceStatus, CustomResourceSubresources, CustomResourceValidation, SelectableField,
    ServiceReference, WebhookClientConfig, WebhookConversion,
};
pub(crate) use definitions::{Definitions, appears, definition_kind};
pub use event::{Event, EventSeries, EventSource};
pub use lease::{Lease, LeaseSpec};
pub use namespace::{Namespace, NamespaceCondition, NamespaceSpec, NamespaceStatus};
pub use rbac::{AggregationRule, ClusterRole, ClusterRoleBinding, PolicyRule, Role, RoleBinding, RoleRef, Subject};
pub(crate) use reviews::answer as answer_reviews;
pub use reviews::{
    FieldSelectorAttributes, LabelSelectorAttributes, LocalSubjectAccessReview, NonResourceAttributes, NonResourceRule,
    ResourceAttributes, ResourceRule, SelfSubjectAccessReview, SelfSubjectAccessReviewSpec, SelfSubjectReview,
    SelfSubjectReviewStatus, SelfSubjectRulesReview, SelfSubjectRulesReviewSpec, SubjectAccessReview,
    SubjectAccessReviewSpec, SubjectAccessReviewStatus, SubjectRulesReviewStatus, TokenReview, TokenReviewSpec,
    TokenReviewStatus, UserInfo,
};
pub use secret::Secret;
pub use service_account::ServiceAccount;

/// The built-in kinds, in discovery order.
pub fn kinds() -> Vec<Kind> {
    let stored = [
        ConfigMap::kind(),
        Event::kind(),
        Namespace::kind(),
        Secret::kind(),
        ServiceAccount::kind(),
        Lease::kind(),
        events::Event::kind(),
    ];
    stored.into_iter().chain(reviews::kinds()).chain(rbac::kinds()).collect()
}

/// True for the kinds of users and what they may do: roles, bindings and service accounts.
pub(crate) fn is_of_users(kind: &Kind) -> bool {
    kind.group_version.group == "rbac.authorization.k8s.io"
        || kind.group_resource() == ServiceAccount::kind().group_resource()
}

/// Changes the lifetime of Events if a kind is a version of Event. Zero keeps them until they are deleted.
pub(crate) fn event_lifetime(kind: Kind, lifetime: Duration) -> Kind {
    if kind.shared != Event::kind().shared {
        return kind;
    }
    kind.with(|shared, _, _| shared.lifetime = Some(lifetime).filter(|lifetime| !lifetime.is_zero()))
}

/// Creates the namespaces that every server has, and these objects, if they are missing and their kinds are served.
///
/// # Errors
/// The object that could not be created, and the reason.
pub(crate) async fn bootstrap(api: &Arc<Verbs>, objects: &[Document]) -> Result<(), String> {
    let namespace = |name| json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
    let namespaces = namespace::PERMANENT.map(namespace);
    let (kinds, _) = api.registry.all();
    let user = Arc::new(User::system());
    for object in namespaces.iter().chain(objects) {
        let [api_version, kind] = ["apiVersion", "kind"].map(|name| object[name].as_str().unwrap_or_default());
        let [namespace, name] = ["namespace", "name"].map(|name| object["metadata"][name].as_str().unwrap_or_default());
        let is_meant = |of: &Kind| of.group_version.is(api_version) && of.names().kind == kind && of.shared.stored;
        let Some(resource) = kinds.iter().find(|served| is_meant(&served.kind)) else { continue };
        let request = Request { namespace: namespace.to_owned(), ..Request::for_all(&user, resource) };
        if resource.objects.snapshot().get(&request.key_of(name)).is_some() {
            continue;
        }
        match api.create(&request, object.clone(), &WriteOptions::of_server("kindsmith")).await {
            Ok(_) | Err(Error::AlreadyExists(..)) => {}
            Err(error) => return Err(format!("the {kind} {name} could not be created: {error:?}")),
        }
    }
    Ok(())
}

/// The controllers that run inside a server.
#[derive(Default)]
pub(crate) struct Controllers {
    stop: watch::Sender<bool>,
    tasks: Vec<(&'static str, JoinHandle<()>)>,
}

impl Controllers {
    /// All of them, for tests.
    #[cfg(test)]
    fn started(api: &Arc<Verbs>) -> Self {
        let mut controllers = Self::default();
        controllers.lead(api);
        controllers.reread(api);
        controllers
    }

    /// Starts the controllers that write, on the current runtime. Of several servers over one store, the leader runs them.
    pub(crate) fn lead(&mut self, api: &Arc<Verbs>) {
        let stopping = || self.stop.subscribe();
        let lifecycle = tasks::spawn(lifecycle::run(api.clone(), stopping()));
        let gc = tasks::spawn(gc::run(api.clone(), stopping()));
        let grace = tasks::spawn(grace::run(api.clone(), Arc::new(Time::now), stopping()));
        let roles = tasks::spawn(rbac::aggregation::run(api.clone(), stopping()));
        self.tasks.extend([("namespaces", lifecycle), ("garbage collection", gc), ("graceful deletion", grace)]);
        self.tasks.push(("aggregated roles", roles));
    }

    /// Reads objects again that could not be converted. Each server does that for itself.
    pub(crate) fn reread(&mut self, api: &Arc<Verbs>) {
        let unread = tasks::spawn(definitions::reread(api.clone(), self.stop.subscribe()));
        self.tasks.push(("unread objects", unread));
    }

    /// Serves definitions as they change. Each server does that for itself; the leader decides about them.
    pub(crate) fn follow(&mut self, definitions: Definitions, leads: watch::Receiver<bool>) {
        let task = tasks::spawn(definitions.run(leads, self.stop.subscribe()));
        self.tasks.push(("definitions", task));
    }

    /// Stops the controllers after their current writes.
    pub(crate) async fn stop(mut self) {
        self.stop.send_replace(true);
        for (controller, task) in &mut self.tasks {
            if let Err(failed) = task.await {
                tracing::error!(controller, %failed, "a controller failed");
            }
        }
    }
}

/// Controllers that were not stopped, or not in time, are cut off.
impl Drop for Controllers {
    fn drop(&mut self) {
        self.tasks.iter().for_each(|(_, task)| task.abort());
    }
}
