//! Checks that defaults are valid, and have only fields of their schema.
use serde_json::json;

use super::super::{Findings, Location};
use crate::{
    meta::{FieldError, FieldPath},
    schema::{Document, Meter, Schema, prune, validate},
};

/// Judges the defaults of a structural schema. Maps have none: what a default is within is there.
pub(super) fn check(schema: &Schema, location: &Location<'_>, findings: &mut Findings) {
    if let Some(default) = &schema.default {
        let at = location.field("default");
        if pruned(schema, default) != *default {
            findings.invalid(&at, default.clone(), "must not have unknown fields");
        }
        let errors = validate(schema, default, &Meter::default()).unwrap_or_else(|exceeded| {
            findings.invalid(&at, default.clone(), exceeded.to_string());
            Vec::new()
        });
        for error in errors {
            let FieldError { path, kind, detail, .. } = error;
            let path = match (at.path(), path.as_str()) {
                (default, "") => default,
                (default, inside) => FieldPath::new(format!("{default}.{inside}")),
            };
            // The default itself has no name in kube-apiserver's words.
            let detail = detail.strip_prefix("the value ").map_or(detail.clone(), |what| format!(" in body {what}"));
            findings.error(&Location::known(path.as_str(), &at.pointer()), kind, detail);
        }
    }
    if let Some(items) = &schema.items {
        check(items, &location.field("items"), findings);
    }
    let properties = location.field("properties");
    for (name, property) in &schema.properties {
        check(property, &properties.key(name), findings);
    }
}

/// A value without what its schema does not know. Only whole objects can be pruned, so it is put into one.
fn pruned(schema: &Schema, value: &Document) -> Document {
    let mut around = json!({"value": value});
    let root = Schema {
        kind: crate::schema::model::Type::Object,
        properties: [("value".to_owned(), schema.clone())].into(),
        ..Schema::default()
    };
    prune(&root, &mut around);
    around["value"].take()
}
