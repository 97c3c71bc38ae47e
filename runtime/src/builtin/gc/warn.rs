//! The warning to users whose objects name owners that cannot be: an Event beside the object.
use std::{
    hash::{DefaultHasher, Hash, Hasher},
    sync::Arc,
};

use serde_json::json;

use super::{
    act::{Target, Writer},
    kinds::namespace_of,
};
use crate::{
    meta::{OwnerReference, Time, options::WriteOptions},
    verbs::{Error, Request},
};

/// Who tells it.
const COMPONENT: &str = "garbage-collector-controller";
/// The longest part of an object's name that is part of its event's.
const NAME_BYTES: usize = 200;

impl Writer {
    /// Tells that an owner is in another namespace than the object, or in one at all where the object is in none. The
    /// event's name is made of both, so that it is told once, whoever tells it and however often.
    pub async fn warn(&self, target: Target, owner: OwnerReference) {
        let Some(events) = self.api.registry.find("", "v1", "events") else { return };
        let (kind, namespace) = (&target.served.kind, namespace_of(&target.key));
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
                "apiVersion": kind.group_version.to_string(), "kind": kind.kind, "namespace": namespace, "name": name,
                "uid": &*target.uid,
            },
            "type": "Warning", "reason": "OwnerRefInvalidNamespace", "message": message,
            "source": {"component": COMPONENT}, "reportingComponent": COMPONENT,
            "firstTimestamp": now, "lastTimestamp": now, "count": 1,
        });
        let request = Request {
            user: Arc::clone(&self.user),
            served: events,
            namespace: at.to_owned(),
            name: String::new(),
            subresource: "".into(),
        };
        match self.api.create(&request, event, &WriteOptions::default()).await {
            Ok(_) | Err(Error::AlreadyExists(..)) => {}
            Err(error) => tracing::debug!(?error, "the warning about an impossible owner could not be stored"),
        }
    }
}
