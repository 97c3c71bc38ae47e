//! Lease: a claim with a holder and a duration. Leader election and heartbeats use it.
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{
    ApiType, Resource,
    kind::hook::Context,
    meta::{FieldError, FieldErrorKind, FieldPath, MicroTime, ObjectMeta},
};

/// Lease defines a lease: a claim that its holder must renew in time.
#[derive(Resource, Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "messages", derive(crate::Message))]
#[resource(group = "coordination.k8s.io", version = "v1", builtin, create_on_update, validate = Lease::check)]
#[resource(column("Holder", path = spec.holder_identity, description = "The identity of the holder of the lease"))]
pub struct Lease {
    /// Standard object's metadata.
    #[serde(default)]
    #[api(proto = 1)]
    pub metadata: ObjectMeta,
    /// The specification of the Lease.
    #[serde(default)]
    #[api(proto = 2)]
    pub spec: LeaseSpec,
}

/// LeaseSpec is a specification of a Lease.
#[derive(ApiType, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "messages", derive(crate::Message))]
#[serde(rename_all = "camelCase")]
#[api(proto_zeros)]
pub struct LeaseSpec {
    /// The identity of the holder of a current lease.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[api(proto = 1)]
    pub holder_identity: Option<String>,
    /// The duration that candidates for a lease need to wait to force acquire it. This is measured against the time of
    /// the last observed `renewTime`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[api(proto = 2)]
    pub lease_duration_seconds: Option<i32>,
    /// The time when the current lease was acquired.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[api(proto = 3)]
    pub acquire_time: Option<MicroTime>,
    /// The time when the current holder of a lease has last updated the lease.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[api(proto = 4)]
    pub renew_time: Option<MicroTime>,
    /// The number of transitions of a lease between holders.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[api(proto = 5)]
    pub lease_transitions: Option<i32>,
    /// The strategy for picking the leader for coordinated leader election. If the field is not specified, there is no
    /// active coordination for this lease.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[api(proto = 6)]
    pub strategy: Option<String>,
    /// Signals to a lease holder that the lease has a more optimal holder and should be given up. This field can only
    /// be set if `strategy` is also set.
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
