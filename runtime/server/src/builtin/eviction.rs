//! `Eviction`: the subresource `eviction` of Kubernetes' Pods, with which `kubectl drain` deletes them. It keeps to their
//! PodDisruptionBudgets, as far as a disruption controller has reported their state.
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    ApiType, ObjectMeta, Resource,
    handlers::{Parent, Refusal, Result, Subresource, post},
    kind::{Kind, endpoint},
    meta::{
        LabelSelector, Status, StatusDetails, Time,
        options::{DeleteOptions, OptionsError, Query, WriteOptions},
        selector::Labels,
    },
    registry::ResourceEntry,
    schema::Document,
    verbs::{Error, Request},
};

/// The name of the subresource.
pub(crate) const SUBRESOURCE: &str = "eviction";
/// The seconds after which a client is to ask again while the state of a budget is not known.
const AGAIN_AFTER: u16 = 10;
/// The most Pods that may be on their way out of one budget.
const MOST_DISRUPTED: usize = 2000;

/// Eviction evicts a pod from its node subject to certain policies and safety constraints.
#[derive(Resource, Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "messages", derive(crate::Message))]
#[resource(group = "policy", version = "v1", builtin, unstored)]
pub(crate) struct Eviction {
    /// The pod that is being evicted.
    #[serde(default)]
    #[api(proto = 1)]
    pub metadata: ObjectMeta,
    /// How the pod is deleted.
    #[api(proto = 2)]
    pub delete_options: Option<EvictionOptions>,
}

/// How an evicted pod is deleted.
#[derive(ApiType, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "messages", derive(crate::Message))]
#[serde(rename_all = "camelCase")]
pub(crate) struct EvictionOptions {
    /// The seconds before the pod is deleted.
    #[api(proto = 1)]
    pub grace_period_seconds: Option<i64>,
    /// What must hold for the pod to be deleted.
    #[api(proto = 2)]
    pub preconditions: Option<EvictionPreconditions>,
    /// Whether dependents stay.
    #[api(proto = 3)]
    pub orphan_dependents: Option<bool>,
    /// What happens to dependents.
    #[api(proto = 4)]
    pub propagation_policy: Option<String>,
    /// `All` if nothing is to be stored.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[api(proto = 5)]
    pub dry_run: Vec<String>,
}

/// What must hold for a pod to be evicted.
#[derive(ApiType, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "messages", derive(crate::Message))]
#[serde(rename_all = "camelCase")]
pub(crate) struct EvictionPreconditions {
    /// The uid of the pod.
    #[serde(rename = "uid")]
    #[api(proto = 1)]
    pub uid: Option<String>,
    /// The resourceVersion of the pod.
    #[api(proto = 2)]
    pub resource_version: Option<String>,
}

/// What an eviction reads of a Pod.
#[derive(Resource, Clone, Debug, Default, PartialEq)]
#[resource(group = "", version = "v1", status, builtin)]
pub(crate) struct Pod {
    #[serde(default)]
    metadata: ObjectMeta,
    #[serde(default)]
    status: PodStatus,
}

#[derive(ApiType, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct PodStatus {
    #[serde(default)]
    phase: String,
    #[serde(default)]
    #[api(list = map(key = kind))]
    conditions: Vec<PodCondition>,
}

#[derive(ApiType, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct PodCondition {
    #[serde(rename = "type")]
    kind: String,
    status: String,
}

impl Pod {
    /// True if it runs, or may run: only then its absence counts.
    fn counts(&self) -> bool {
        !matches!(&*self.status.phase, "Succeeded" | "Failed" | "Pending" | "")
            && self.metadata.deletion_timestamp.is_none()
    }

    fn is_ready(&self) -> bool {
        self.status.conditions.iter().any(|condition| condition.kind == "Ready" && condition.status == "True")
    }
}

/// True for Pods whose documents describe evictions.
pub(crate) fn is_for(kind: &Kind) -> bool {
    let of = &kind.group_version;
    let is_pod =
        of.group.is_empty() && of.version == "v1" && kind.names().plural == "pods" && kind.policy().has_routes();
    is_pod && endpoint::of(kind).iter().any(|endpoint| &*endpoint.subresource == SUBRESOURCE)
}

/// The subresource.
pub(crate) fn subresource() -> Subresource<Pod> {
    post(evict)
}

async fn evict(pod: Parent<Pod>, eviction: Eviction) -> Result<()> {
    let given = eviction.delete_options.map(|options| json!(options));
    let mut options = DeleteOptions::parse(&Query::default(), given.as_ref()).map_err(|error| match error {
        OptionsError::Invalid(kind, errors) => Error::Invalid(kind, String::new(), errors),
        OptionsError::BadRequest(why) | OptionsError::Unknown(why) => Error::BadRequest(why),
    })?;
    if pod.counts()
        && let Some(budget) = Budget::of(&pod)?
    {
        if budget.must_allow(&pod) {
            budget.take(&pod, options.dry_run).await?;
        } else {
            // Should the pod become ready meanwhile, its budget counts.
            options.preconditions.resource_version.get_or_insert_with(|| pod.metadata.resource_version.clone());
        }
    }
    pod.delete(&options).await
}

/// The PodDisruptionBudget of a pod.
struct Budget {
    resource: Arc<ResourceEntry>,
    name: String,
    document: Document,
}

impl Budget {
    fn of(pod: &Parent<Pod>) -> Result<Option<Self>> {
        let api = pod.context().api();
        let Some(resource) = api.registry.find("policy", "v1", "poddisruptionbudgets") else { return Ok(None) };
        let (mut found, prefix) = (Vec::new(), format!("{}/", pod.metadata.namespace));
        for object in resource.objects.snapshot().range(&prefix, None) {
            let document: Document = serde_json::from_slice(&object.json()).unwrap_or_default();
            let selector = LabelSelector::deserialize(&document["spec"]["selector"]).ok();
            let selector = selector.and_then(|selector| Labels::from_field(&selector).ok());
            if selector
                .is_some_and(|selector| selector.matches_by(|key| pod.metadata.labels.get(key).map(String::as_str)))
            {
                let name = document["metadata"]["name"].as_str().unwrap_or_default().to_owned();
                found.push(Self { resource: resource.clone(), name, document });
            }
        }
        if found.len() > 1 {
            let why = "this pod has more than one PodDisruptionBudget, which the eviction subresource does not support";
            return Err(Refusal::internal(why));
        }
        Ok(found.pop())
    }

    /// True if the budget decides: a pod that is not ready may go while there are enough others, or always if the budget says so.
    fn must_allow(&self, pod: &Pod) -> bool {
        let (spec, status) = (&self.document["spec"], &self.document["status"]);
        let [current, desired] = ["currentHealthy", "desiredHealthy"].map(|name| number(&status[name]));
        let unready_may_go = spec["unhealthyPodEvictionPolicy"] == "AlwaysAllow" || (desired > 0 && current >= desired);
        pod.is_ready() || !unready_may_go
    }

    /// Takes a pod out of the budget, or refuses.
    async fn take(&self, pod: &Parent<Pod>, dry_run: bool) -> Result<()> {
        let request = Request {
            namespace: pod.metadata.namespace.clone(),
            name: self.name.clone(),
            subresource: "status".into(),
            ..Request::for_all(&pod.context().user, &self.resource)
        };
        let dry_run = dry_run || pod.context().dry_run;
        let options = WriteOptions { dry_run, ..WriteOptions::of_server("kindsmith") };
        let take = |budget: &mut Document| {
            take_from(budget, &pod.metadata.name).map_err(|refusal| Error::Refused(Box::new(refusal.status().clone())))
        };
        pod.context().api().change(&request, &options, take).await?;
        Ok(())
    }
}

fn number(value: &Value) -> i64 {
    value.as_i64().unwrap_or_default()
}

/// Counts a pod as one that goes. Fails with 429 if the budget does not allow that, or if its state is not known.
fn take_from(budget: &mut Document, pod: &str) -> Result<()> {
    let name = budget["metadata"]["name"].as_str().unwrap_or_default();
    let refuse = |after, why: String| {
        let message = "Cannot evict pod as it would violate the pod's disruption budget.";
        let details = StatusDetails { retry_after_seconds: after, ..StatusDetails::default() };
        let status = Status::failure(429, "TooManyRequests", message, Some(details));
        Err(Refusal::from(status).cause("DisruptionBudget", why))
    };
    let status = &budget["status"];
    let allowed = number(&status["disruptionsAllowed"]);
    if number(&status["observedGeneration"]) < number(&budget["metadata"]["generation"]) {
        return refuse(AGAIN_AFTER, format!("The disruption budget {name} is still being processed by the server."));
    }
    if allowed < 0 {
        return Err(Refusal::forbidden("pdb disruptions allowed is negative"));
    }
    if status["disruptedPods"].as_object().is_some_and(|pods| pods.len() > MOST_DISRUPTED) {
        return Err(Refusal::forbidden(
            "DisruptedPods map too big - too many evictions not confirmed by PDB controller",
        ));
    }
    if allowed == 0 {
        let [desired, current] = ["desiredHealthy", "currentHealthy"].map(|name| number(&status[name]));
        let why = format!("The disruption budget {name} needs {desired} healthy pods and has {current} currently");
        // Without a time, as in kube-apiserver: clients would wait for it by themselves, and keep to no limit of their own.
        return refuse(0, why);
    }
    let status = &mut budget["status"];
    status["disruptionsAllowed"] = json!(allowed - 1);
    status["disruptedPods"][pod] = json!(Time::now().to_string());
    Ok(())
}
