//! Owner references.
use serde_json::{Value, json};

use super::{items, text};
use crate::{FieldError, FieldErrorKind, FieldPath, field::MOST_ERRORS};

/// Validates `ownerReferences` of the metadata. The API's errors name the list, not the item.
pub(super) fn owner_references(metadata: &Value, path: &FieldPath) -> Vec<FieldError> {
    let references = items(metadata, "ownerReferences");
    let mut errors = Vec::new();
    let mut controller: Option<String> = None;
    // Each of these errors repeats all references.
    let mut said = false;
    for reference in references {
        if errors.len() >= MOST_ERRORS {
            break;
        }
        let version = text(reference, "apiVersion").rsplit('/').next().unwrap_or_default();
        let mut required = |member: &str, why: &str| {
            let given = FieldErrorKind::Invalid(json!(text(reference, member)));
            errors.push(FieldError::new(&path.child(member), given, why));
        };
        if version.is_empty() {
            required("apiVersion", "version must not be empty");
        }
        for member in ["kind", "name", "uid"] {
            if text(reference, member).is_empty() {
                required(member, "must not be empty");
            }
        }
        if text(reference, "apiVersion") == "v1" && text(reference, "kind") == "Event" {
            let why = "/v1, Kind=Event is disallowed from being an owner";
            errors.push(FieldError::new(path, FieldErrorKind::InvalidText(shown(reference)), why));
        }
        if reference.get("controller") == Some(&Value::Bool(true)) {
            let name = format!("{}/{}", text(reference, "kind"), text(reference, "name"));
            if let Some(first) = controller.as_ref().filter(|_| !said) {
                said = true;
                let why = format!(
                    "Only one reference can have Controller set to true. Found \"true\" in references for {first} and {name}"
                );
                let all: Vec<String> = references.iter().map(shown).collect();
                errors.push(FieldError::new(path, FieldErrorKind::InvalidText(format!("[{}]", all.join(","))), why));
            } else if controller.is_none() {
                controller = Some(name);
            }
        }
    }
    errors
}

/// A reference as JSON with its members in the API's order.
fn shown(reference: &Value) -> String {
    let always = ["apiVersion", "kind", "name", "uid"].map(|m| format!("\"{m}\":{}", json!(text(reference, m))));
    let flags = ["controller", "blockOwnerDeletion"];
    let flags = flags.iter().filter_map(|m| Some(format!("\"{m}\":{}", reference.get(m)?.as_bool()?)));
    format!("{{{}}}", always.into_iter().chain(flags).collect::<Vec<_>>().join(","))
}
