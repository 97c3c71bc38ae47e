//! Warns users whose objects name impossible owners, with an Event for the object.
use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::json;

use super::{
    act::{Target, Writer},
    kinds::namespace_of,
};
use crate::{
    meta::{OwnerReference, Time, options::WriteOptions},
    verbs::{Error, Request},
};

/// The component that reports the event.
const COMPONENT: &str = "garbage-collector-controller";
/// The maximum length of the object's name in the event's name.
const NAME_BYTES: usize = 200;

impl Writer {
    /// Reports that an owner is in another namespace than the object, or is namespaced while the object is not. The
    /// event's name is derived from both, so that the event is created once, even with several collectors and restarts.
    pub(super) async fn warn(&self, target: Target, owner: OwnerReference) {
        let Some(events) = self.api.registry.find("", "v1", "events") else { return };
        let (kind, namespace) = (&target.resource.kind, namespace_of(&target.key));
        let name = target.key.rsplit('/').next().unwrap_or_default();
        let mut hasher = DefaultHasher::new();
        (&*target.uid, &owner.uid).hash(&mut hasher);
        let message = format!(
            "ownerRef [{}/{}, namespace: {namespace}, name: {}, uid: {}] does not exist in namespace {namespace:?}",
            owner.api_version, owner.kind, owner.name, owner.uid
        );
        let (now, short) = (Time::now(), name.get(..NAME_BYTES).unwrap_or(name));
        let at = if namespace.is_empty() { "default" } else { namespace };
        let event = json!({
            "apiVersion": "v1", "kind": "Event",
            "metadata": {"name": format!("{short}.{:016x}", hasher.finish()), "namespace": at},
            "involvedObject": {
                "apiVersion": kind.group_version.to_string(), "kind": kind.names().kind, "namespace": namespace, "name": name,
                "uid": &*target.uid,
            },
            "type": "Warning", "reason": "OwnerRefInvalidNamespace", "message": message,
            "source": {"component": COMPONENT}, "reportingComponent": COMPONENT,
            "firstTimestamp": now, "lastTimestamp": now, "count": 1,
        });
        let request = Request { namespace: at.to_owned(), ..Request::for_all(&self.user, &events) };
        match self.api.create(&request, event, &WriteOptions::default()).await {
            Ok(_) | Err(Error::AlreadyExists(..)) => {}
            Err(error) => tracing::debug!(?error, "the warning about an impossible owner could not be stored"),
        }
    }
}
