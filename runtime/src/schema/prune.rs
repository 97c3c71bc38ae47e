//! Pruning: drops the fields that the schema does not know.
use super::{Document, Schema, model::Type, place::Place};
use crate::meta::FieldPath;

/// Drops unknown fields and says which they were, in the order of the document's keys.
///
/// At the root and in embedded objects `apiVersion`, `kind` and `metadata` are known. Where unknown fields are preserved,
/// those of the declared fields below are pruned all the same.
pub fn prune(schema: &Schema, document: &mut Document) -> Vec<FieldPath> {
    let mut dropped = Vec::new();
    prune_at(schema, document, &Place::Root, &mut dropped);
    dropped
}

fn prune_at(schema: &Schema, value: &mut Document, place: &Place<'_>, dropped: &mut Vec<FieldPath>) {
    match value {
        Document::Object(fields) => {
            let object = place.is_root() || schema.embedded;
            let open = schema.preserve_unknown || schema.kind == Type::Any;
            fields.retain(|name, value| {
                if object && matches!(name.as_str(), "apiVersion" | "kind" | "metadata") {
                    return true;
                }
                match schema.properties.get(name).or(schema.additional.as_deref()) {
                    Some(known) => prune_at(known, value, &place.field(name), dropped),
                    None if open => {}
                    None => {
                        dropped.push(place.field(name).path());
                        return false;
                    }
                }
                true
            });
        }
        Document::Array(list) => {
            if let Some(items) = &schema.items {
                for (index, item) in list.iter_mut().enumerate() {
                    prune_at(items, item, &place.item(index), dropped);
                }
            }
        }
        _ => {}
    }
}
