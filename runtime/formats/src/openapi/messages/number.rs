//! Numbers the fields of a schema from its message.
use std::{collections::HashMap, sync::Arc};

use kindsmith_proto::{self as proto, Field, Label, Syntax};

use super::{MessageRef, Messages, Problems, types};
use crate::{
    proto::type_of,
    schema::{Scalar, Schema, model::Type},
};

/// How many structs may be embedded in each other; a message may contain itself.
const DEEPEST_PART: usize = 3;
const TIME: &str = "k8s.io.apimachinery.pkg.apis.meta.v1.Time";
/// The type of times with microseconds, which documents do not distinguish from others.
const MICRO_TIME: &str = "k8s.io.apimachinery.pkg.apis.meta.v1.MicroTime";

/// A field, its message, and the numbers of the parts around it.
type NumberedField<'m> = (&'m Field, MessageRef<'m>, Vec<u32>);

impl Messages {
    /// Numbers the fields of a struct, and of structs without a name below it.
    pub(super) fn number_fields(
        &self,
        message_ref: MessageRef<'_>,
        schema: &mut Schema,
        pointer: &str,
        problems: &mut Problems,
    ) {
        let mut numbers = HashMap::new();
        self.collect(message_ref, schema, &[], &mut numbers);
        let properties = schema.properties.clone();
        let numbered = properties.iter().map(|(name, property)| {
            let mut property = property.clone();
            let pointer = format!("{pointer}/properties/{}", name.replace('~', "~0").replace('/', "~1"));
            if let Some((field, around, parts)) = numbers.get(name.as_str()) {
                if let Some(proto::Conflict { line, message }) = types::contradiction(&property, name, field, *around) {
                    problems.conflicts.push((around.source.document, line, message));
                }
                let zero_is_absent = has_no_presence(field, *around);
                property.protobuf = Some(field.number);
                property.protobuf_parts = (!parts.is_empty()).then(|| parts.as_slice().into());
                let times = [(TIME, Scalar::Time), (MICRO_TIME, Scalar::MicroTime)];
                if let Some((_, scalar)) = times.iter().find(|(name, _)| field.kind.ends_with(name)) {
                    property.scalar = Some(*scalar);
                }
                property.zero_is_absent |= zero_is_absent;
                property.omit_empty |= zero_is_absent && !schema.required.contains(name);
                self.number_below(*around, field, &mut property, &pointer, problems);
            } else if ["apiVersion", "kind"].contains(&name.as_str()) {
                // The types of objects are not in their messages.
                property.protobuf = Some(0);
            } else if let Err(proto::Conflict { line, message }) = message_ref.message.number_of(name, None) {
                problems.conflicts.push((message_ref.source.document, line, message));
            } else {
                let message =
                    format!("{} has no such field: its objects are not served in Protobuf", message_ref.full_name());
                problems.missing.push((pointer, message));
            }
            (name.clone(), property)
        });
        schema.properties = numbered.collect();
    }

    /// Numbers the fields of a struct in a field, unless it has numbers from the message of its name.
    fn number_below(
        &self,
        around: MessageRef<'_>,
        field: &Field,
        schema: &mut Schema,
        pointer: &str,
        problems: &mut Problems,
    ) {
        let (inner, pointer) = match field.label {
            Label::Repeated => (&mut schema.items, format!("{pointer}/items")),
            Label::Map(_) => (&mut schema.additional, format!("{pointer}/additionalProperties")),
            _ => return self.number_struct(around, field, schema, pointer, problems),
        };
        if let Some(inner) = inner {
            self.number_struct(around, field, Arc::make_mut(inner), &pointer, problems);
        }
    }

    fn number_struct(
        &self,
        around: MessageRef<'_>,
        field: &Field,
        schema: &mut Schema,
        pointer: &str,
        problems: &mut Problems,
    ) {
        let is_unnumbered = schema.properties.values().all(|property| property.protobuf.is_none());
        let Some(message_ref) = self.resolve(&field.kind, around) else {
            if let Some(shared) = type_of(&field.kind).filter(|_| is_unnumbered) {
                number_like(shared, schema);
            }
            return;
        };
        let is_wrapper = schema.kind == Type::Array || schema.additional.is_some() && schema.properties.is_empty();
        if is_wrapper {
            // Lists in lists are messages, whose first field has the items.
            if let Some(first) = message_ref.message.fields.iter().find(|field| field.number == 1) {
                self.number_below(message_ref, first, schema, pointer, problems);
            }
            return;
        }
        if is_unnumbered && !schema.preserve_unknown && schema.kind == Type::Object {
            self.number_fields(message_ref, schema, pointer, problems);
        }
    }

    /// Finds the fields of a schema in its message, and in the parts of that.
    fn collect<'m>(
        &'m self,
        message_ref: MessageRef<'m>,
        schema: &Schema,
        parts: &[u32],
        numbers: &mut HashMap<String, NumberedField<'m>>,
    ) {
        for field in &message_ref.message.fields {
            if let Some(name) = schema.properties.keys().find(|name| field.is_called(name)) {
                numbers.insert(name.clone(), (field, message_ref, parts.to_vec()));
            } else if parts.len() < DEEPEST_PART
                && matches!(field.label, Label::Optional | Label::Required | Label::Plain)
                && let Some(part) = self.resolve(&field.kind, message_ref)
            {
                self.collect(part, schema, &[parts, &[field.number]].concat(), numbers);
            }
        }
    }
}

/// Numbers the fields of a struct like those of a type of `meta`.
fn number_like(shared: &Schema, schema: &mut Schema) {
    let numbered = schema.properties.iter().map(|(name, property)| {
        let mut property = property.clone();
        if let Some(known) = shared.properties.get(name) {
            property.protobuf = known.protobuf;
            let inner = [(&mut property.items, &known.items), (&mut property.additional, &known.additional)];
            for (inner, known) in
                inner.into_iter().filter_map(|(inner, known)| Some((inner.as_mut()?, known.as_ref()?)))
            {
                number_like(known, Arc::make_mut(inner));
            }
        }
        (name.clone(), property)
    });
    schema.properties = numbered.collect();
}

/// Its zero and its absence mean the same.
fn has_no_presence(field: &Field, message_ref: MessageRef<'_>) -> bool {
    message_ref.source.file.syntax == Syntax::Proto3
        && field.label == Label::Plain
        && field.oneof.is_none()
        && proto::is_scalar(&field.kind)
}
