//! What reviews must say, with kube-apiserver's messages.
use serde_json::json;

use super::{
    FieldSelectorAttributes, LabelSelectorAttributes, NonResourceAttributes, ResourceAttributes,
    SubjectAccessReviewSpec,
};
use crate::{
    handlers::Result,
    meta::{
        FieldError, FieldErrorKind, FieldPath, FieldSelectorRequirement, GroupKind, LabelSelectorRequirement,
        ObjectMeta, Status,
        validate::{label_value, qualified_name},
    },
};

/// The errors of a question about a user.
pub(super) fn subject(spec: &SubjectAccessReviewSpec) -> Vec<FieldError> {
    let mut errors = form(spec.resource_attributes.as_ref(), spec.non_resource_attributes.as_ref());
    if spec.user.is_empty() && spec.groups.is_empty() {
        errors.push(invalid("spec.user", json!(""), "at least one of user or group must be specified"));
    }
    errors.extend(spec.resource_attributes.iter().flat_map(selectors));
    errors
}

/// The errors of a question about the sender.
pub(super) fn action(resource: Option<&ResourceAttributes>, path: Option<&NonResourceAttributes>) -> Vec<FieldError> {
    let mut errors = form(resource, path);
    errors.extend(resource.into_iter().flat_map(selectors));
    errors
}

/// The further errors of a question about one namespace.
pub(super) fn local(spec: &SubjectAccessReviewSpec, namespace: &str) -> Vec<FieldError> {
    let resource = spec.resource_attributes.as_ref().filter(|action| action.namespace != namespace);
    let elsewhere = resource.map(|action| {
        invalid("spec.resourceAttributes.namespace", json!(action.namespace), "must match metadata.namespace")
    });
    let path = spec.non_resource_attributes.as_ref();
    elsewhere.into_iter().chain(path.map(|path| not_a_path(path, "disallowed on this kind of request"))).collect()
}

/// Refuses a review with these errors, or with metadata.
pub(super) fn refuse(mut errors: Vec<FieldError>, metadata: &ObjectMeta, why: &str) -> Result<()> {
    // The server itself sets a managed field; it is not the client's.
    let given = ObjectMeta { managed_fields: Vec::new(), ..metadata.clone() };
    if given != ObjectMeta::default() {
        errors.push(invalid("metadata", json!(given), why));
    }
    if errors.is_empty() {
        return Ok(());
    }
    // kube-apiserver names the group alone.
    let group = GroupKind { group: "authorization.k8s.io".to_owned(), kind: String::new() };
    Err(Status::invalid(&group, "", &errors).into())
}

/// A question is about a resource or about a path.
fn form(resource: Option<&ResourceAttributes>, path: Option<&NonResourceAttributes>) -> Vec<FieldError> {
    match (resource, path) {
        (Some(_), Some(path)) => vec![not_a_path(path, "cannot be specified in combination with resourceAttributes")],
        (None, None) => {
            let why = "exactly one of nonResourceAttributes or resourceAttributes must be specified";
            vec![invalid("spec.resourceAttributes", json!(null), why)]
        }
        _ => Vec::new(),
    }
}

fn not_a_path(path: &NonResourceAttributes, why: &str) -> FieldError {
    // The names of the fields in Go.
    invalid("spec.nonResourceAttributes", json!({"Path": path.path, "Verb": path.verb}), why)
}

/// The errors of both selectors.
fn selectors(action: &ResourceAttributes) -> Vec<FieldError> {
    let path = FieldPath::new("spec.resourceAttributes");
    let mut errors = Vec::new();
    if let Some(FieldSelectorAttributes { raw_selector, requirements }) = &action.field_selector {
        let path = path.child("fieldSelector");
        errors.extend(one_form(&path, raw_selector, requirements.len()));
        for (index, requirement) in requirements.iter().enumerate() {
            let FieldSelectorRequirement { key, operator, values } = requirement;
            let path = path.child("requirements").index(index);
            if key.is_empty() {
                errors.push(FieldError::new(&path.child("key"), FieldErrorKind::Required, "must be specified"));
            }
            errors.extend(operands(&path, operator, values));
        }
    }
    if let Some(LabelSelectorAttributes { raw_selector, requirements }) = &action.label_selector {
        let path = path.child("labelSelector");
        errors.extend(one_form(&path, raw_selector, requirements.len()));
        for (index, requirement) in requirements.iter().enumerate() {
            let LabelSelectorRequirement { key, operator, values } = requirement;
            let path = path.child("requirements").index(index);
            errors.extend(operands(&path, operator, values));
            errors.extend(qualified_name(key).iter().map(|why| invalid_at(&path.child("key"), key, why)));
            for (index, value) in values.iter().enumerate() {
                let path = path.child("values").index(index);
                errors.extend(label_value(value).iter().map(|why| invalid_at(&path, value, why)));
            }
        }
    }
    errors
}

/// A selector is text or requirements.
fn one_form(path: &FieldPath, text: &str, requirements: usize) -> Option<FieldError> {
    match (text.is_empty(), requirements) {
        (true, 0) => {
            let why = format!("when {path} is specified, requirements or rawSelector is required");
            Some(FieldError::new(&path.child("requirements"), FieldErrorKind::Required, why))
        }
        (false, 1..) => {
            let why = "may not specified at the same time as requirements";
            Some(invalid_at(&path.child("rawSelector"), text, why))
        }
        _ => None,
    }
}

/// Operators have values or none. Unknown operators are of newer clients, and allowed.
fn operands(path: &FieldPath, operator: &str, values: &[String]) -> Option<FieldError> {
    let path = path.child("values");
    match (operator, values.is_empty()) {
        ("In" | "NotIn", true) => {
            let why = "must be specified when `operator` is 'In' or 'NotIn'";
            Some(FieldError::new(&path, FieldErrorKind::Required, why))
        }
        ("Exists" | "DoesNotExist", false) => {
            let why = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
            Some(FieldError::new(&path, FieldErrorKind::Forbidden, why))
        }
        _ => None,
    }
}

fn invalid(path: &str, given: serde_json::Value, why: &str) -> FieldError {
    FieldError::new(&FieldPath::new(path), FieldErrorKind::Invalid(given), why)
}

fn invalid_at(path: &FieldPath, given: &str, why: &str) -> FieldError {
    FieldError::new(path, FieldErrorKind::Invalid(json!(given)), why)
}
