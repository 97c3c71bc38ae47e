//! What an APIService must be, with kube-aggregator's messages.
use serde_json::{Value, json};

use super::{APIService, APIServiceStatus, ServiceReference};
use crate::meta::{FieldError, FieldErrorKind, FieldPath, go, validate};

/// The errors of an APIService.
pub(super) fn service(object: &APIService) -> Vec<FieldError> {
    let spec = &object.spec;
    let path = FieldPath::new("spec");
    let mut errors = Vec::from_iter(name(object));
    if spec.group.is_empty() {
        if spec.version != "v1" {
            let why = "only v1 may have an empty group and it better be legacy kube";
            errors.push(FieldError::new(&path.child("group"), FieldErrorKind::Required, why));
        }
    } else {
        let wrong = validate::subdomain(&spec.group, false);
        errors.extend(wrong.iter().map(|why| invalid(&path.child("group"), json!(spec.group), why)));
    }
    let wrong = validate::dns_1035_label(&spec.version);
    errors.extend(wrong.iter().map(|why| invalid(&path.child("version"), json!(spec.version), why)));
    for (field, priority, most) in [
        ("groupPriorityMinimum", spec.group_priority_minimum, 20_000),
        ("versionPriority", spec.version_priority, 1_000),
    ] {
        if priority <= 0 || priority > most {
            let why = format!("must be positive and less than {most}");
            errors.push(invalid(&path.child(field), json!(priority), &why));
        }
    }
    let bundle = spec.ca_bundle.as_ref().map_or(0, |bundle| bundle.0.len());
    let insecure = path.child("insecureSkipTLSVerify");
    match &spec.service {
        None => {
            if bundle > 0 {
                let (path, given) = (path.child("caBundle"), json!(format!("{bundle} bytes")));
                errors.push(invalid(&path, given, "local APIServices may not have a caBundle"));
            }
            if spec.insecure_skip_tls_verify {
                errors.push(invalid(&insecure, json!(true), "local APIServices may not have insecureSkipTLSVerify"));
            }
        }
        Some(service) => {
            errors.extend(reference(service, &path.child("service")));
            if spec.insecure_skip_tls_verify && bundle > 0 {
                errors.push(invalid(&insecure, json!(true), "may not be true if caBundle is present"));
            }
        }
    }
    errors
}

/// The errors of a status.
pub(super) fn status(status: &APIServiceStatus) -> Vec<FieldError> {
    let (path, values) = (FieldPath::new("status").child("conditions"), ["True", "False", "Unknown"]);
    let wrong = status.conditions.iter().enumerate().filter(|(_, condition)| !values.contains(&&*condition.status));
    let wrong = wrong.map(|(index, condition)| {
        let supported = values.map(go::quoted).into();
        let kind = FieldErrorKind::NotSupported { given: json!(condition.status), supported };
        FieldError::new(&path.index(index).child("status"), kind, "")
    });
    wrong.collect()
}

/// The error of a name that is not `version.group`. One that is no segment of a path is refused with all metadata.
fn name(object: &APIService) -> Option<FieldError> {
    let (spec, name) = (&object.spec, &object.metadata.name);
    let required = format!("{}.{}", spec.version, spec.group);
    if *name == required || !validate::path_segment(name, false).is_empty() {
        return None;
    }
    let why = format!("must be `spec.version+\".\"+spec.group`: {}", go::quoted(&required));
    Some(invalid(&FieldPath::new("metadata").child("name"), json!(name), &why))
}

fn reference(service: &ServiceReference, path: &FieldPath) -> Vec<FieldError> {
    let mut errors = Vec::new();
    for (field, text) in [("namespace", &service.namespace), ("name", &service.name)] {
        if text.is_empty() {
            errors.push(FieldError::new(&path.child(field), FieldErrorKind::Required, ""));
        }
    }
    let port = service.port.unwrap_or_default();
    if !(1..=65_535).contains(&port) {
        let why = "port is not valid: must be between 1 and 65535, inclusive";
        errors.push(invalid(&path.child("port"), json!(port), why));
    }
    errors
}

fn invalid(path: &FieldPath, given: Value, why: &str) -> FieldError {
    FieldError::new(path, FieldErrorKind::Invalid(given), why)
}
