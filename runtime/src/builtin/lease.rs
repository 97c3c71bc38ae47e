//! Lease: who holds what, until when. Elections of leaders and heartbeats live on it.
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{
    ApiType, Resource,
    kind::hook::Context,
    meta::{FieldError, FieldErrorKind, FieldPath, MicroTime, ObjectMeta},
};

/// A claim that someone holds something, to be renewed in time.
#[derive(Resource, Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "messages", derive(crate::Message))]
#[resource(group = "coordination.k8s.io", version = "v1", builtin, create_on_update, validate = Lease::check)]
#[resource(column("Holder", path = spec.holder_identity, description = "Who holds the lease"))]
pub struct Lease {
    /// Metadata of the object.
    #[serde(default)]
    #[api(proto = 1)]
    pub metadata: ObjectMeta,
    /// Who holds the lease, and until when.
    #[serde(default)]
    #[api(proto = 2)]
    pub spec: LeaseSpec,
}

/// Who holds a lease, and until when.
#[derive(ApiType, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "messages", derive(crate::Message))]
#[serde(rename_all = "camelCase")]
#[api(proto_zeros)]
pub struct LeaseSpec {
    /// Who holds the lease.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[api(proto = 1)]
    pub holder_identity: Option<String>,
    /// How long others wait after the last renewal before they take the lease.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[api(proto = 2)]
    pub lease_duration_seconds: Option<i32>,
    /// When the holder took the lease.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[api(proto = 3)]
    pub acquire_time: Option<MicroTime>,
    /// When the holder last renewed the lease.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[api(proto = 4)]
    pub renew_time: Option<MicroTime>,
    /// How often the lease has gone from one holder to another.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[api(proto = 5)]
    pub lease_transitions: Option<i32>,
    /// How a coordinated election chooses the next holder.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[api(proto = 6)]
    pub strategy: Option<String>,
    /// Who should hold the lease; the holder gives it up when this is someone else.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[api(proto = 7)]
    pub preferred_holder: Option<String>,
}

impl Lease {
    fn check(&self, _context: &Context<'_, Self>) -> Vec<FieldError> {
        let (path, spec) = (FieldPath::new("spec"), &self.spec);
        let mut errors = Vec::new();
        let invalid = |name: &str, given: i32, why: &str| {
            FieldError::new(&path.child(name), FieldErrorKind::Invalid(json!(given)), why)
        };
        if let Some(given) = spec.lease_duration_seconds.filter(|seconds| *seconds <= 0) {
            errors.push(invalid("leaseDurationSeconds", given, "must be greater than 0"));
        }
        if let Some(given) = spec.lease_transitions.filter(|times| *times < 0) {
            errors.push(invalid("leaseTransitions", given, "must be greater than or equal to 0"));
        }
        let set = |text: &Option<String>| text.as_ref().is_some_and(|text| !text.is_empty());
        if set(&spec.preferred_holder) && !set(&spec.strategy) {
            let why = "may only be specified if `strategy` is defined";
            errors.push(FieldError::new(&path.child("preferredHolder"), FieldErrorKind::Forbidden, why));
        }
        errors
    }
}
