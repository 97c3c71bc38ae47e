//! Validation of label selectors in fields.
use serde_json::json;

use super::{label_value, qualified_name};
use crate::{FieldError, FieldErrorKind, FieldPath, LabelSelector, LabelSelectorRequirement};

/// Validates the label selector in a field.
pub fn label_selector(selector: &LabelSelector, path: &FieldPath) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let labels = path.child("matchLabels");
    for (key, value) in &selector.match_labels {
        errors.extend(qualified_name(key).iter().map(|why| invalid(&labels, key, why)));
        errors.extend(label_value(value).iter().map(|why| invalid(&labels, value, why)));
    }
    let expressions = path.child("matchExpressions");
    for (index, requirement) in selector.match_expressions.iter().enumerate() {
        errors.extend(label_requirement(requirement, &expressions.index(index)));
    }
    errors
}

fn label_requirement(requirement: &LabelSelectorRequirement, path: &FieldPath) -> Vec<FieldError> {
    let LabelSelectorRequirement { key, operator, values } = requirement;
    let of_values = path.child("values");
    let mut errors = Vec::new();
    match &**operator {
        "In" | "NotIn" if values.is_empty() => {
            let why = "must be specified when `operator` is 'In' or 'NotIn'";
            errors.push(FieldError::new(&of_values, FieldErrorKind::Required, why));
        }
        "Exists" | "DoesNotExist" if !values.is_empty() => {
            let why = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
            errors.push(FieldError::new(&of_values, FieldErrorKind::Forbidden, why));
        }
        "In" | "NotIn" | "Exists" | "DoesNotExist" => {}
        other => errors.push(invalid(&path.child("operator"), other, "not a valid selector operator")),
    }
    errors.extend(qualified_name(key).iter().map(|why| invalid(&path.child("key"), key, why)));
    for (index, value) in values.iter().enumerate() {
        errors.extend(label_value(value).iter().map(|why| invalid(&of_values.index(index), value, why)));
    }
    errors
}

fn invalid(path: &FieldPath, given: &str, why: &str) -> FieldError {
    FieldError::new(path, FieldErrorKind::Invalid(json!(given)), why)
}
