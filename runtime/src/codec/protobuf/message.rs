//! Messages by schema: structs, lists and maps. What is no container is left to `values`.
use serde_json::Map;

use super::{
    super::Limits,
    DecodeError, values,
    wire::{Reader, Wire},
};
use crate::schema::{Document, Schema, model::Type};

/// Reads the fields of a message that the schema numbers. As Protobuf has it, of a scalar given twice the last value
/// counts, lists grow, and messages are merged.
pub fn read(
    schema: &Schema,
    bytes: &[u8],
    fields: &mut Map<String, Document>,
    limits: Limits,
) -> Result<(), DecodeError> {
    let mut reader = Reader::new(bytes);
    while let Some((number, value)) = reader.field()? {
        let found = schema.properties.iter().find(|(_, property)| property.protobuf == Some(number));
        let Some((name, property)) = found else { continue };
        if !fields.contains_key(name) {
            fields.insert(name.clone(), Document::Null);
        }
        if let Some(slot) = fields.get_mut(name) {
            add(property, value, slot, limits).map_err(|error| error.within(name))?;
        }
    }
    Ok(())
}

/// Reads one field of a message, whatever else is in it.
pub fn only(
    number: u32,
    schema: &Schema,
    bytes: &[u8],
    slot: &mut Document,
    limits: Limits,
) -> Result<(), DecodeError> {
    let mut reader = Reader::new(bytes);
    while let Some((given, value)) = reader.field()? {
        if given == number {
            add(schema, value, slot, limits)?;
        }
    }
    Ok(())
}

/// Adds what a field says to what earlier ones said, which begins as `null`.
fn add(schema: &Schema, given: Wire<'_>, slot: &mut Document, limits: Limits) -> Result<(), DecodeError> {
    match schema.kind {
        Type::Object if schema.preserve_unknown => *slot = values::raw_json(given.bytes()?, limits)?,
        Type::Object => {
            if !slot.is_object() {
                *slot = Document::Object(Map::new());
            }
            let Some(fields) = slot.as_object_mut() else { return Ok(()) };
            match &schema.additional {
                Some(values) => {
                    let (key, value) = entry(values, given.bytes()?, limits)?;
                    fields.insert(key, value);
                }
                None => read(schema, given.bytes()?, fields, limits)?,
            }
        }
        Type::Array => {
            if !slot.is_array() {
                *slot = Document::Array(Vec::new());
            }
            let (Some(list), Some(items)) = (slot.as_array_mut(), &schema.items) else { return Ok(()) };
            match given {
                Wire::Bytes(packed) if matches!(items.kind, Type::Integer | Type::Boolean) => {
                    let mut reader = Reader::new(packed);
                    while let Some(number) = reader.packed()? {
                        list.push(values::scalar(items, Wire::Varint(number), limits)?);
                    }
                }
                given => list.push(inner(items, given, limits)?),
            }
        }
        _ => *slot = values::scalar(schema, given, limits)?,
    }
    Ok(())
}

/// An item of a list or a value of a map. Protobuf knows no lists of lists: a list there is a message with the items as
/// its first field.
fn inner(schema: &Schema, given: Wire<'_>, limits: Limits) -> Result<Document, DecodeError> {
    let mut value = Document::Null;
    if schema.kind == Type::Array {
        value = Document::Array(Vec::new());
        only(1, schema, given.bytes()?, &mut value, limits)?;
    } else {
        add(schema, given, &mut value, limits)?;
    }
    Ok(value)
}

/// An entry of a map: a message of a key and a value, either of which is left out where it is empty.
fn entry(values: &Schema, bytes: &[u8], limits: Limits) -> Result<(String, Document), DecodeError> {
    let (mut key, mut value) = (String::new(), values::zero(values));
    let mut reader = Reader::new(bytes);
    while let Some((number, given)) = reader.field()? {
        match number {
            1 => given.text()?.clone_into(&mut key),
            2 => value = inner(values, given, limits).map_err(|error| error.within(&key))?,
            _ => {}
        }
    }
    Ok((key, value))
}
