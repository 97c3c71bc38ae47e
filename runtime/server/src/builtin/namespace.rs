//! Namespace: a scope for names, with all special treatment that the server gives it. Finalizers in its spec hold it
//! until its content is gone.
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{
    ApiType, Resource,
    kind::{Policy, hook::Context},
    meta::{FieldError, FieldErrorKind, FieldPath, ObjectMeta, Time},
};

/// Namespaces that every server has and that cannot be deleted.
pub(super) const PERMANENT: [&str; 3] = ["default", "kube-system", "kube-public"];
/// The finalizer of every namespace. The server removes it once the namespace is empty.
pub(super) const FINALIZER: &str = "kubernetes";
/// The label with the namespace's name, so that selectors can select namespaces by name.
const NAME_LABEL: &str = "kubernetes.io/metadata.name";
/// The phase of a usable namespace.
const ACTIVE: &str = "Active";
/// The phase of a namespace that is being deleted.
const TERMINATING: &str = "Terminating";

/// How namespaces differ from other kinds compiled into Kubernetes.
#[derive(Clone, Copy, Debug)]
struct Namespaces;

impl Policy for Namespaces {
    fn contains_objects(&self) -> bool {
        true
    }

    fn is_closed_by(&self, field: &[String], value: &str) -> bool {
        field == ["status", "phase"] && value == TERMINATING
    }

    fn finalizers(&self) -> Option<&'static [&'static str]> {
        Some(&["spec", "finalizers"])
    }

    fn refuses_deletion(&self, name: &str) -> Option<&'static str> {
        PERMANENT.contains(&name).then_some("this namespace may not be deleted")
    }

    /// A mistake would delete all namespaces.
    fn deletes_collections(&self) -> bool {
        false
    }
}

/// Namespace provides a scope for names. Names must be unique within a namespace, not across namespaces. Deleting a
/// namespace deletes all objects in it.
#[derive(Resource, Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "messages", derive(crate::Message))]
#[resource(group = "", version = "v1", cluster, shortname = "ns", status, builtin, names = label, update_without_version)]
#[resource(policy = Namespaces)]
#[api(proto_zeros)]
#[resource(default = Namespace::fill_in, validate = Namespace::check, selectable(status.phase))]
#[resource(on_delete = Namespace::terminate)]
#[resource(column("Status", path = status.phase, description = "The current lifecycle phase of the namespace"))]
pub struct Namespace {
    /// Standard object's metadata.
    #[serde(default)]
    #[api(proto = 1)]
    pub metadata: ObjectMeta,
    /// Describes the behavior of the Namespace.
    #[serde(default)]
    #[api(proto = 2)]
    pub spec: NamespaceSpec,
    /// Describes the current status of the Namespace.
    #[serde(default)]
    #[api(proto = 3)]
    pub status: NamespaceStatus,
}

/// NamespaceSpec describes the attributes of a Namespace.
#[derive(ApiType, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "messages", derive(crate::Message))]
#[serde(rename_all = "camelCase")]
#[api(proto_zeros)]
pub struct NamespaceSpec {
    /// An opaque list of values that must be empty to permanently remove the object from storage. Values are removed
    /// through the `finalize` subresource.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[api(proto = 1)]
    pub finalizers: Vec<String>,
}

/// NamespaceStatus is information about the current status of a Namespace.
#[derive(ApiType, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "messages", derive(crate::Message))]
#[serde(rename_all = "camelCase")]
#[api(proto_zeros)]
pub struct NamespaceStatus {
    /// The current lifecycle phase of the namespace: `Active`, or `Terminating` after its deletion was requested.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[api(proto = 1)]
    pub phase: String,
    /// Represents the latest available observations of a namespace's current state.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[api(proto = 2, list = map(key = kind), merge(key = kind))]
    pub conditions: Vec<NamespaceCondition>,
}

/// NamespaceCondition contains details about the state of a namespace.
#[derive(ApiType, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "messages", derive(crate::Message))]
#[serde(rename_all = "camelCase")]
#[api(proto_zeros)]
pub struct NamespaceCondition {
    /// Type of namespace controller condition, such as `NamespaceContentRemaining`.
    #[serde(rename = "type")]
    #[api(proto = 1)]
    pub kind: String,
    /// Status of the condition, one of True, False, Unknown.
    #[api(proto = 2)]
    pub status: String,
    /// Last time the condition transitioned from one status to another.
    #[api(proto = 4, proto_zero)]
    pub last_transition_time: Option<Time>,
    /// Unique, one-word, CamelCase reason for the condition's last transition.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[api(proto = 5)]
    pub reason: String,
    /// Human-readable message indicating details about the last transition.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[api(proto = 6)]
    pub message: String,
}

impl Namespace {
    /// Sets the fields that the server maintains: the name label, the server's finalizer, and the initial phase.
    fn fill_in(&mut self, context: &Context<'_, Self>) {
        if !self.metadata.name.is_empty() {
            self.metadata.labels.insert(NAME_LABEL.to_owned(), self.metadata.name.clone());
        }
        let Some(old) = context.old() else {
            if !self.spec.finalizers.iter().any(|f| f == FINALIZER) {
                self.spec.finalizers.push(FINALIZER.to_owned());
            }
            self.status = NamespaceStatus { phase: ACTIVE.to_owned(), conditions: Vec::new() };
            return;
        };
        if context.subresource != "finalize" {
            self.spec.finalizers.clone_from(&old.spec.finalizers);
        }
    }

    fn check(&self, context: &Context<'_, Self>) -> Vec<FieldError> {
        let path = FieldPath::new("spec").child("finalizers");
        let mut errors: Vec<FieldError> = Vec::new();
        for finalizer in &self.spec.finalizers {
            let invalid = |why: String| FieldError::new(&path, FieldErrorKind::Invalid(json!(finalizer)), why);
            errors.extend(crate::meta::validate::qualified_name(finalizer).into_iter().map(invalid));
            if finalizer != FINALIZER && !finalizer.contains('/') {
                errors.push(invalid("name is neither a standard finalizer name nor is it fully qualified".to_owned()));
            }
        }
        let deleted = self.metadata.deletion_timestamp.is_some();
        let phase = FieldPath::new("status").child("phase");
        let expected = if deleted { TERMINATING } else { ACTIVE };
        if context.subresource == "status" && self.status.phase != expected {
            let why = if deleted {
                "may only be 'Terminating' if `deletionTimestamp` is not empty"
            } else {
                "may only be 'Active' if `deletionTimestamp` is empty"
            };
            errors.push(FieldError::new(&phase, FieldErrorKind::Invalid(json!(self.status.phase)), why));
        }
        errors
    }

    fn terminate(&mut self) {
        TERMINATING.clone_into(&mut self.status.phase);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        builtin::tests::Inside,
        meta::options::DeleteOptions,
        verbs::{DeleteResult, Error},
    };

    #[tokio::test]
    async fn the_namespaces_that_every_server_has_are_never_deleted() {
        let inside = Inside::new().await;
        for name in PERMANENT {
            let refused = inside.api.delete(&inside.request("namespaces", "", name), &DeleteOptions::default()).await;
            let Err(Error::Forbidden { message, .. }) = refused else { panic!("{refused:?}") };
            assert_eq!(message, "this namespace may not be deleted");
        }
        inside.namespace("a").await;
        assert!(matches!(inside.delete("namespaces", "", "a").await, DeleteResult::Marked(_)), "its spec holds it");
    }
}
