//! Compares the type of a schema with that of its field in a message.
use kindsmith_proto::{self as proto, Conflict, Field, Label, ResolvedType};

use super::{MessageRef, full_name};
use crate::{
    proto::scalar,
    schema::{At, Schema, model::Type},
};

/// The conflict of a field whose type is another one on the wire.
pub(super) fn contradiction(schema: &Schema, name: &str, field: &Field, around: MessageRef<'_>) -> Option<Conflict> {
    // The type of a back reference is that of the node to which it leads, which is compared there.
    if schema.definition.is_some() {
        return None;
    }
    let (mut declared, to) = declared(schema);
    // An integer without a format says less than the message.
    if declared.kind == "int64" && field.kind == "int32" && !has_format(schema) {
        declared.kind.clone_from(&field.kind);
    }
    let file = &around.source.file;
    let at = match (file.resolve(&field.kind, around.name), &to) {
        (ResolvedType::Message(name), ResolvedType::Elsewhere(_)) => ResolvedType::Elsewhere(full_name(file, &name)),
        (at, _) => at,
    };
    (!proto::same_wire((field, &at), (&declared, &to)))
        .then(|| proto::changed_type(field, name, declared.declared().trim_start_matches("optional ")))
}

/// The format of the values is declared.
fn has_format(schema: &Schema) -> bool {
    let inner = [&schema.items, &schema.additional].into_iter().flatten().next();
    inner.map_or(schema, |inner| inner).format.is_some()
}

/// The type of a schema as that of a field; structs are messages of any name.
fn declared(schema: &Schema) -> (Field, ResolvedType) {
    let (label, inner) = match (schema.kind, &schema.items, &schema.additional) {
        (Type::Array, Some(items), _) => (Label::Repeated, &**items),
        (Type::Object, _, Some(values)) if schema.properties.is_empty() && !schema.preserve_unknown => {
            (Label::Map("string".to_owned()), &**values)
        }
        _ => (Label::Optional, schema),
    };
    let is_wrapped = label != Label::Optional
        && (inner.kind == Type::Array || inner.additional.is_some() && inner.properties.is_empty());
    let known = if is_wrapped || inner.definition.is_some() { None } else { scalar(At::of(inner)) };
    let (kind, to) = match known {
        None => ("message".to_owned(), ResolvedType::Message(String::new())),
        Some((None, kind)) => (kind.to_owned(), ResolvedType::Scalar),
        Some((Some(package), kind)) => {
            let full = format!("{package}.{kind}");
            (full.clone(), ResolvedType::Elsewhere(full))
        }
    };
    (Field { label, kind, ..Field::default() }, to)
}
