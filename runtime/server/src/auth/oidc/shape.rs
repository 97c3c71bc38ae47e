//! The fields of the file and their types. Finds fields that the file may not have, and values of other types.
use serde_json::Value;

use crate::meta::{FieldError, FieldErrorKind, FieldPath};

/// The type of a value.
pub(super) enum Shape {
    Text,
    Bool,
    List(&'static Shape),
    /// The fields by their names.
    Object(&'static [(&'static str, Shape)]),
}

use Shape::{Bool, List, Object, Text};

const CLAIM_OR_EXPRESSION: &[(&str, Shape)] = &[("claim", Text), ("expression", Text)];
const PREFIXED: &[(&str, Shape)] = &[("claim", Text), ("prefix", Text), ("expression", Text)];

const ISSUER: Shape = Object(&[
    ("url", Text),
    ("discoveryURL", Text),
    ("certificateAuthority", Text),
    ("audiences", List(&Text)),
    ("audienceMatchPolicy", Text),
    ("egressSelectorType", Text),
]);

const JWT: Shape = Object(&[
    ("issuer", ISSUER),
    (
        "claimValidationRules",
        List(&Object(&[("claim", Text), ("requiredValue", Text), ("expression", Text), ("message", Text)])),
    ),
    (
        "claimMappings",
        Object(&[
            ("username", Object(PREFIXED)),
            ("groups", Object(PREFIXED)),
            ("uid", Object(CLAIM_OR_EXPRESSION)),
            ("extra", List(&Object(&[("key", Text), ("valueExpression", Text)]))),
        ]),
    ),
    ("userValidationRules", List(&Object(&[("expression", Text), ("message", Text)]))),
]);

/// The whole file.
pub(super) const FILE: Shape = Object(&[
    ("apiVersion", Text),
    ("kind", Text),
    ("jwt", List(&JWT)),
    ("anonymous", Object(&[("enabled", Bool), ("conditions", List(&Object(&[("path", Text)])))])),
]);

impl Shape {
    const fn name(&self) -> &'static str {
        match self {
            Text => "string",
            Bool => "boolean",
            List(_) => "array",
            Object(_) => "object",
        }
    }

    /// Checks a value, and removes fields that are null, which are the same as absent ones.
    pub(super) fn check(&self, value: &mut Value, path: &FieldPath, faults: &mut Vec<String>) {
        match (self, value) {
            (Text, Value::String(_)) | (Bool, Value::Bool(_)) => {}
            (List(element), Value::Array(items)) => {
                for (index, item) in items.iter_mut().enumerate() {
                    element.check(item, &path.index(index), faults);
                }
            }
            (Object(fields), Value::Object(members)) => {
                members.retain(|name, value| !value.is_null() || !fields.iter().any(|(known, _)| known == name));
                for (name, value) in members {
                    match fields.iter().find(|(known, _)| known == name) {
                        Some((_, shape)) => shape.check(value, &path.child(name), faults),
                        None => faults.push(format!("unknown field {:?}", path.child(name).as_str())),
                    }
                }
            }
            (_, other) => {
                let given = match other {
                    Value::Null => "null",
                    Value::Bool(_) => "boolean",
                    Value::Number(_) => "number",
                    Value::String(_) => "string",
                    Value::Array(_) => "array",
                    Value::Object(_) => "object",
                };
                let detail = format!("must be of type {}: {given:?}", self.name());
                let error = FieldError::new(path, FieldErrorKind::TypeInvalid(given.into()), detail);
                faults.push(error.to_string());
            }
        }
    }
}
