//! Keywords that an attribute names as definitions do.
use crate::schema::{Schema, model::Unenforced};

/// Takes a keyword of a schema that was read from a document, instead of what the type says. Others stay.
///
/// # Errors
/// A keyword that has an argument of its own, or none at all.
pub(super) fn adopt(schema: &mut Schema, read: &Schema, keyword: &str) -> Result<(), String> {
    match keyword {
        "type" | "x-kubernetes-int-or-string" => (schema.kind, schema.scalar) = (read.kind, read.scalar),
        "format" => schema.format.clone_from(&read.format),
        "default" => schema.default.clone_from(&read.default),
        "enum" => schema.enumeration.clone_from(&read.enumeration),
        "minimum" => schema.minimum = read.minimum,
        "exclusiveMinimum" => schema.exclusive_minimum = read.exclusive_minimum,
        "maximum" => schema.maximum = read.maximum,
        "exclusiveMaximum" => schema.exclusive_maximum = read.exclusive_maximum,
        "multipleOf" => schema.multiple_of = read.multiple_of,
        "minLength" => schema.min_length = read.min_length,
        "maxLength" => schema.max_length = read.max_length,
        "pattern" => schema.pattern.clone_from(&read.pattern),
        "minItems" => schema.min_items = read.min_items,
        "maxItems" => schema.max_items = read.max_items,
        "minProperties" => schema.min_properties = read.min_properties,
        "maxProperties" => schema.max_properties = read.max_properties,
        "required" => schema.required.clone_from(&read.required),
        "properties" => schema.properties.clone_from(&read.properties),
        "additionalProperties" => schema.additional.clone_from(&read.additional),
        "items" => schema.items.clone_from(&read.items),
        "nullable" => schema.nullable = read.nullable,
        "x-kubernetes-list-type" | "x-kubernetes-list-map-keys" => schema.list.clone_from(&read.list),
        "x-kubernetes-map-type" => schema.map_atomic = read.map_atomic,
        "x-kubernetes-patch-strategy" | "x-kubernetes-patch-merge-key" => schema.patch.clone_from(&read.patch),
        "x-kubernetes-preserve-unknown-fields" => schema.preserve_unknown = read.preserve_unknown,
        "x-kubernetes-embedded-resource" => schema.embedded = read.embedded,
        "allOf" | "anyOf" | "oneOf" | "not" => schema.junctors.clone_from(&read.junctors),
        "x-kubernetes-validations" => {
            schema.immutable |= read.immutable;
            schema.rules.clone_from(&read.rules);
        }
        "title" | "example" | "externalDocs" => {
            schema.unenforced = read.unenforced.clone().filter(|said| **said != Unenforced::default());
        }
        _ => return Err(format!("the keyword {keyword:?} cannot be declared by its name")),
    }
    Ok(())
}
