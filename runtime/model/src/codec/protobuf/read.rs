//! Messages to documents. Scalar values are in `values`.
use serde_json::Map;

use super::{
    super::Limits,
    super::faults::MOST as MOST_FAULTS,
    DecodeError,
    layout::{Field, Message, Value},
    values,
    wire::{Reader, Wire},
};
use crate::schema::Document;

/// The approximate memory of a value, including short text.
const VALUE_COST: usize = 64;
/// The approximate memory of the first field of a struct or map.
const FIELDS_COST: usize = 700;
/// The maximum memory of a message's document. A field of two bytes may become several hundred bytes, so the length of
/// the message is not a sufficient limit.
const MEMORY: usize = 28 << 20;

/// The decoding of one message, with its limits and remaining budget.
pub(super) struct DecodeState {
    pub limits: Limits,
    memory: usize,
    /// The remaining nesting depth: recursive types have no limit of their own.
    depth: usize,
    /// The paths of unknown fields, in the order of the message: `spec.ports[2].99`.
    pub unknown: Vec<String>,
}

impl DecodeState {
    pub(super) fn new(limits: Limits) -> Self {
        Self { limits, memory: MEMORY, depth: limits.depth, unknown: Vec::new() }
    }

    fn take(&mut self, bytes: usize) -> Result<(), DecodeError> {
        self.memory = self.memory.checked_sub(bytes).ok_or_else(|| {
            DecodeError::new("the message has too many values: it would take more memory than one request may")
        })?;
        Ok(())
    }

    /// Records an unknown field of a message.
    fn skip(&mut self, number: u32, began: usize) {
        let number = number.to_string();
        if self.unknown.len() < MOST_FAULTS && !self.unknown[began..].contains(&number) {
            self.unknown.push(number);
        }
    }

    /// Adds the parent's path to the fields recorded since then.
    fn within(&mut self, since: usize, place: &str) -> Result<(), DecodeError> {
        // A key may be as long as the body, and contain all recorded fields.
        self.take((self.unknown.len() - since) * place.len())?;
        for path in &mut self.unknown[since..] {
            let dot = if path.starts_with('[') { "" } else { "." };
            path.insert_str(0, dot);
            path.insert_str(0, place);
        }
        Ok(())
    }
}

impl Message {
    /// Reads fields. As Protobuf defines, the last value of a repeated scalar wins, lists grow, and messages are
    /// merged. Unknown fields are skipped and recorded.
    pub(super) fn read(
        &self,
        bytes: &[u8],
        fields: &mut Map<String, Document>,
        state: &mut DecodeState,
    ) -> Result<(), DecodeError> {
        let mut reader = Reader::new(bytes);
        let began = state.unknown.len();
        while let Some((number, value)) = reader.field()? {
            let Some(field) = self.field(number) else {
                // Some clients write all fields, even retired ones.
                if !value.is_empty() {
                    state.skip(number, began);
                }
                continue;
            };
            if let Value::Part(part) = &field.value {
                part.read(value.bytes()?, fields, state)?;
                continue;
            }
            let before = state.unknown.len();
            field.read(value, fields, state).map_err(|error| error.within(&field.name))?;
            state.within(before, &field.name)?;
        }
        if fields.is_empty() && self.fields.iter().any(|field| field.required) {
            state.take(FIELDS_COST)?;
        }
        self.complete(fields);
        Ok(())
    }

    /// Merges a message into earlier ones.
    fn add(&self, given: Wire<'_>, slot: &mut Document, state: &mut DecodeState) -> Result<(), DecodeError> {
        if !slot.is_object() {
            *slot = Document::Object(Map::new());
        }
        let Some(fields) = slot.as_object_mut() else { return Ok(()) };
        self.read(given.bytes()?, fields, state)
    }

    /// Restores values that documents have and messages omit: required empty lists and maps, and zeros of required
    /// fields that a client may have omitted.
    pub(super) fn complete(&self, fields: &mut Map<String, Document>) {
        for field in &self.fields {
            if let Value::Part(part) = &field.value {
                part.complete(fields);
            }
        }
        for field in self.fields.iter().filter(|field| field.required) {
            let entries = matches!(field.value, Value::List(_) | Value::Map(_) | Value::Wrapped(_));
            if (entries || field.zero_is_absent) && !fields.contains_key(&field.name) {
                let zero = field.value.zero();
                if !zero.is_null() {
                    fields.insert(field.name.clone(), zero);
                }
            }
        }
    }
}

impl Field {
    fn read(
        &self,
        given: Wire<'_>,
        fields: &mut Map<String, Document>,
        state: &mut DecodeState,
    ) -> Result<(), DecodeError> {
        if matches!(self.value, Value::Retired) {
            return given.bytes().map(drop);
        }
        if !fields.contains_key(&self.name) {
            state.take(if fields.is_empty() { FIELDS_COST } else { VALUE_COST })?;
            fields.insert(self.name.clone(), Document::Null);
        }
        let Some(slot) = fields.get_mut(&self.name) else { return Ok(()) };
        self.value.add(given, slot, state)?;
        let dropped = slot.is_null() || (self.zero_is_absent && !self.required && is_zero(slot));
        if dropped {
            fields.remove(&self.name);
        }
        Ok(())
    }
}

/// True for values that Go omits in JSON for empty non-pointer fields: text, numbers and booleans, never structs.
fn is_zero(value: &Document) -> bool {
    match value {
        Document::String(text) => text.is_empty(),
        Document::Number(number) => number.as_f64() == Some(0.0),
        Document::Bool(value) => !value,
        _ => false,
    }
}

impl Value {
    /// Merges an occurrence of a field into earlier ones, starting with `null`.
    fn add(&self, given: Wire<'_>, slot: &mut Document, state: &mut DecodeState) -> Result<(), DecodeError> {
        let Some(depth) = state.depth.checked_sub(1) else {
            return Err(DecodeError::new(format!("exceeded max depth of {}", state.limits.depth)));
        };
        state.depth = depth;
        let added = self.add_within(given, slot, state);
        state.depth += 1;
        added
    }

    fn add_within(&self, given: Wire<'_>, slot: &mut Document, state: &mut DecodeState) -> Result<(), DecodeError> {
        match self {
            Self::Message(message) => message.add(given, slot, state),
            Self::Recursive(message) => message.upgrade().map_or(Ok(()), |message| message.add(given, slot, state)),
            Self::Map(values) => {
                if !slot.is_object() {
                    *slot = Document::Object(Map::new());
                }
                let Some(entries) = slot.as_object_mut() else { return Ok(()) };
                state.take(if entries.is_empty() { FIELDS_COST } else { 2 * VALUE_COST })?;
                let (key, value) = values.entry(given.bytes()?, state)?;
                entries.insert(key, value);
                Ok(())
            }
            Self::List(items) => {
                if !slot.is_array() {
                    *slot = Document::Array(Vec::new());
                }
                let Some(list) = slot.as_array_mut() else { return Ok(()) };
                items.append(given, list, state)
            }
            Self::Wrapped(inner) => {
                if slot.is_null() {
                    *slot = inner.zero();
                }
                let mut reader = Reader::new(given.bytes()?);
                while let Some((number, value)) = reader.field()? {
                    if number == 1 {
                        inner.add(value, slot, state)?;
                    }
                }
                Ok(())
            }
            scalar => {
                *slot = values::read(scalar, given, state.limits)?;
                Ok(())
            }
        }
    }

    /// Adds one item to a list, or all items of a packed list of numbers.
    fn append(&self, given: Wire<'_>, list: &mut Vec<Document>, state: &mut DecodeState) -> Result<(), DecodeError> {
        let Wire::Bytes(packed) = given else { return self.push(given, list, state) };
        let mut reader = Reader::new(packed);
        match self {
            Self::Integer | Self::Boolean => {
                while let Some(number) = reader.packed()? {
                    self.push(Wire::Varint(number), list, state)?;
                }
            }
            Self::Double => {
                while let Some(bits) = reader.packed_fixed()? {
                    self.push(Wire::Fixed64(bits), list, state)?;
                }
            }
            _ => self.push(given, list, state)?,
        }
        Ok(())
    }

    fn push(&self, given: Wire<'_>, list: &mut Vec<Document>, state: &mut DecodeState) -> Result<(), DecodeError> {
        state.take(VALUE_COST)?;
        let (mut item, before) = (Document::Null, state.unknown.len());
        self.add(given, &mut item, state)?;
        if state.unknown.len() > before {
            state.within(before, &format!("[{}]", list.len()))?;
        }
        list.push(item);
        Ok(())
    }

    /// A map entry: a message of a key and a value, either of which is omitted if it is empty.
    fn entry(&self, bytes: &[u8], state: &mut DecodeState) -> Result<(String, Document), DecodeError> {
        let (mut key, mut value) = (String::new(), Document::Null);
        let (mut reader, before) = (Reader::new(bytes), state.unknown.len());
        while let Some((number, given)) = reader.field()? {
            match number {
                1 => given.text()?.clone_into(&mut key),
                2 => self.add(given, &mut value, state).map_err(|error| error.within(&key))?,
                _ => {}
            }
        }
        state.within(before, &key)?;
        if value.is_null() {
            value = self.zero();
        }
        Ok((key, value))
    }
}
