//! Defaults that are Go's zero values.
use std::sync::Arc;

use super::{findings::Location, schema::SchemaReader};
use crate::schema::{Document, Meter, Schema, model::Type};

impl<'d> SchemaReader<'_, 'd> {
    /// An item of a list or an entry of a map.
    pub(super) fn element(&mut self, raw: &'d Document, location: &Location<'_>) -> Arc<Schema> {
        let mut schema = self.node(raw, location);
        self.settle_default(&mut schema, location);
        schema
    }

    /// Drops a default that is Go's zero value and not valid: Kubernetes publishes `{}` for each struct, list item and map
    /// entry that is no pointer, whatever it has to have. Returns true if that was the content of a struct, which is
    /// required then.
    pub(super) fn settle_default(&mut self, schema: &mut Arc<Schema>, location: &Location<'_>) -> bool {
        let Some(default) = schema.default.as_ref().filter(|default| is_zero(default)) else { return false };
        let mut filled = default.clone();
        let meter = Meter::default();
        let done = crate::schema::default(schema, &mut filled, &meter);
        let error = match done.and_then(|()| crate::schema::validate(schema, &filled, &meter)) {
            Ok(errors) => errors.first().map(ToString::to_string),
            Err(exceeded) => Some(exceeded.to_string()),
        };
        // The default of a back reference would be filled in without end.
        let error = error.or_else(|| schema.definition.map(|_| "the type contains itself".to_owned()));
        let Some(error) = error else { return false };
        if !self.omits_empty {
            self.findings
                .warning(&location.key("default"), format!("the default is dropped, as it is not valid: {error}"));
        }
        Arc::make_mut(schema).default = None;
        schema.kind == Type::Object && schema.definition.is_none()
    }
}

/// Returns true for the zero values of Go.
pub(super) fn is_zero(value: &Document) -> bool {
    match value {
        Document::Object(fields) => fields.is_empty(),
        Document::String(text) => text.is_empty(),
        Document::Number(number) => number.as_f64() == Some(0.0),
        other => *other == false,
    }
}
