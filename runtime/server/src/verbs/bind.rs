//! binding: a scheduler assigns a Pod to a node. As in kube-apiserver, the rules for changes of Pods do not hold for this write.
use serde_json::{Map, Value, json};

use super::{Error, Request, Verbs, metadata};
use crate::{
    kind::Kind,
    meta::{
        FieldError, FieldErrorKind, FieldPath, GroupKind, GroupResource, Preconditions, Time,
        options::WriteOptions,
        preconditions::{Identity, Mismatch},
    },
    schema::Document,
};

/// The name of the subresource.
pub(crate) const SUBRESOURCE: &str = "binding";

/// True for the subresource of Pods.
pub(crate) fn is_of(kind: &Kind, subresource: &str) -> bool {
    let of = &kind.group_version;
    subresource == SUBRESOURCE && of.group.is_empty() && of.version == "v1" && kind.names().plural == "pods"
}

impl Verbs {
    /// Assigns the requested Pod to the node that a Binding names: sets the node's name and the condition `PodScheduled`, and adds the
    /// Binding's annotations and labels.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a Binding without a node; [`Error::Conflict`] for a Pod that has a node, that is being deleted, or that has
    /// scheduling gates; like [`Verbs::change`].
    pub async fn bind(&self, request: &Request, options: &WriteOptions, binding: &Document) -> Result<(), Error> {
        let errors = target_errors(&binding["target"]);
        if !errors.is_empty() {
            let kind = GroupKind { group: String::new(), kind: "Binding".to_owned() };
            return Err(Error::Invalid(kind, request.name.clone(), errors));
        }
        let request = Request { subresource: SUBRESOURCE.into(), ..request.clone() };
        let preconditions = Preconditions::of(&binding["metadata"]);
        let assign = |pod: &mut Document| {
            preconditions
                .check(Some(&pod["metadata"]))
                .map_err(|mismatch| Error::Conflict(bindings(), request.name.clone(), unmet(&mismatch)))?;
            assign(pod, binding)
        };
        self.change(&request, options, assign).await.map(drop)
    }
}

/// kube-apiserver's message about a precondition.
fn unmet(Mismatch { of, expected, found }: &Mismatch) -> String {
    let name = match of {
        Identity::Uid => "UID",
        Identity::ResourceVersion => "ResourceVersion",
    };
    format!("Precondition failed: {name} in precondition: {expected}, {name} in object meta: {found}")
}

fn bindings() -> GroupResource {
    GroupResource { group: String::new(), resource: "pods/binding".to_owned() }
}

/// The errors of a Binding's target.
fn target_errors(target: &Value) -> Vec<FieldError> {
    let (path, mut errors) = (FieldPath::new("target"), Vec::new());
    if !matches!(target["kind"].as_str(), None | Some("" | "Node")) {
        let supported = vec!["\"Node\"".to_owned(), "\"<empty>\"".to_owned()];
        let kind = FieldErrorKind::NotSupported { given: target["kind"].clone(), supported };
        errors.push(FieldError::new(&path.child("kind"), kind, ""));
    }
    if target["name"].as_str().is_none_or(str::is_empty) {
        errors.push(FieldError::new(&path.child("name"), FieldErrorKind::Required, ""));
    }
    errors
}

/// Assigns a Pod. Fails with [`Error::Conflict`].
fn assign(pod: &mut Document, binding: &Document) -> Result<(), Error> {
    let name = metadata::text(pod, "name").to_owned();
    let node = pod["spec"]["nodeName"].as_str().unwrap_or_default();
    let refusal = if !pod["metadata"]["deletionTimestamp"].is_null() {
        Some(format!("pod {name} is being deleted, cannot be assigned to a host"))
    } else if !node.is_empty() {
        Some(format!("pod {name} is already assigned to node {node:?}"))
    } else if pod["spec"]["schedulingGates"].as_array().is_some_and(|gates| !gates.is_empty()) {
        Some(format!("pod {name} has non-empty .spec.schedulingGates"))
    } else {
        None
    };
    if let Some(message) = refusal {
        return Err(Error::Conflict(bindings(), name, message));
    }
    pod["spec"]["nodeName"] = binding["target"]["name"].clone();
    for member in ["annotations", "labels"] {
        let Some(added) = binding["metadata"][member].as_object().filter(|added| !added.is_empty()) else { continue };
        let present = metadata::of(pod).entry(member).or_insert_with(|| Map::new().into());
        if let Some(present) = present.as_object_mut() {
            present.extend(added.clone());
        }
    }
    set_scheduled(&mut pod["status"]);
    Ok(())
}

/// Sets the condition `PodScheduled`.
fn set_scheduled(status: &mut Value) {
    let scheduled = json!({
        "type": "PodScheduled",
        "status": "True",
        "lastProbeTime": null,
        "lastTransitionTime": Time::now().to_string(),
    });
    if !status["conditions"].is_array() {
        status["conditions"] = json!([]);
    }
    let Some(conditions) = status["conditions"].as_array_mut() else { return };
    match conditions.iter_mut().find(|condition| condition["type"] == "PodScheduled") {
        Some(condition) if condition["status"] == "True" => {}
        Some(condition) => *condition = scheduled,
        None => conditions.push(scheduled),
    }
}
