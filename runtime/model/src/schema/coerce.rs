//! Coercion of embedded objects (`x-kubernetes-embedded-resource`), as kube-apiserver does it where it decodes custom resources.
use serde_json::Map;

use super::{At, Document, METADATA, Schema, location::Location, types::check_types};
use crate::meta::{FieldError, FieldErrorKind};

impl Schema {
    /// True if a value of the schema may be, or have, a whole object.
    pub(crate) fn has_embedded(&self) -> bool {
        self.embedded || self.below().any(Self::has_embedded)
    }
}

/// Makes the metadata of embedded objects that is null an empty object.
///
/// # Errors
/// The first value of a wrong type in their type meta and metadata.
pub fn coerce(schema: &Schema, document: &mut Document) -> Result<(), FieldError> {
    walk(At::of(schema), document, &Location::Root)
}

fn walk(at: At<'_>, value: &mut Document, location: &Location<'_>) -> Result<(), FieldError> {
    match value {
        Document::Object(fields) => {
            if at.is_object() {
                coerce_type(at, fields, location)?;
            }
            for (name, value) in fields.iter_mut().filter(|(_, value)| value.is_object() || value.is_array()) {
                match at.property(name) {
                    Some(property) => walk(property, value, &location.field(name))?,
                    None => at.entry().map_or(Ok(()), |entry| walk(entry, value, &location.entry(name)))?,
                }
            }
            Ok(())
        }
        Document::Array(list) => {
            let Some(items) = at.items() else { return Ok(()) };
            list.iter_mut().enumerate().try_for_each(|(index, item)| walk(items, item, &location.item(index)))
        }
        _ => Ok(()),
    }
}

fn coerce_type(at: At<'_>, fields: &mut Map<String, Document>, location: &Location<'_>) -> Result<(), FieldError> {
    for name in ["apiVersion", "kind", "metadata"] {
        let Some(value) = fields.get_mut(name).filter(|value| !is_absent(at, name, value)) else { continue };
        let wrong = match name {
            "metadata" => check_types(&METADATA, value),
            _ => (!value.is_string()).then(|| "must be a string".to_owned()),
        };
        if let Some(why) = wrong {
            let given = FieldErrorKind::Invalid(value.clone());
            return Err(FieldError::new(&location.field(name).keyed_path(), given, why));
        }
        if value.is_null() {
            *value = Document::Object(Map::new());
        }
    }
    Ok(())
}

/// True for a `null` that the schema declares and does not allow: it counts as absent.
fn is_absent(at: At<'_>, name: &str, value: &Document) -> bool {
    value.is_null() && at.member(name).is_some_and(|declared| !declared.nullable && declared.default.is_none())
}
