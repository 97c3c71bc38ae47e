//! Layouts of messages for schemas: fields by number. Built once per kind, so that encoding and decoding objects
//! neither searches nor sorts.
use std::{
    collections::BTreeMap,
    ptr,
    sync::{Arc, Weak},
};

use crate::schema::{At, Document, Scalar, Schema, model::Type};

/// The layout of a message: its fields by number, which is the order in which they are written.
#[derive(Clone, Debug)]
pub struct Message {
    pub(super) fields: Vec<Field>,
    /// The recursive messages in this message, to which fields refer without owning them.
    #[expect(dead_code, reason = "it keeps alive the messages that fields refer to")]
    recursive: Vec<Arc<Message>>,
}

/// A field of a message.
#[derive(Clone, Debug)]
pub(super) struct Field {
    pub number: u32,
    pub name: String,
    pub value: Value,
    /// Zero and absence are equivalent: an absent value is written as zero, and a zero is read as absent.
    pub zero_is_absent: bool,
    /// Documents always have the field, so an empty list or map, which is not on the wire, is restored.
    pub required: bool,
}

/// The content of a field.
#[derive(Clone, Debug)]
pub(super) enum Value {
    Boolean,
    Integer,
    Double,
    Text,
    Bytes,
    Time,
    MicroTime,
    Quantity,
    IntOrString,
    /// A message whose first field is JSON text.
    RawJson,
    Message(Arc<Message>),
    /// A message whose fields are fields of the document around it: a struct that Go embeds.
    Part(Arc<Message>),
    /// A recursive message, owned by the outermost message.
    Recursive(Weak<Message>),
    List(Box<Value>),
    Map(Box<Value>),
    /// Text that only old clients use (`selfLink`): written empty, and not read.
    Retired,
    /// A nested list or map, which Protobuf lacks: a message with it as the first field.
    Wrapped(Box<Value>),
}

/// The format of text that is written empty and not read.
pub(super) const RETIRED: &str = "retired";
/// The format of a list that is a message of its own, whose first field has the items.
pub(super) const WRAPPED: &str = "wrapped";

impl Message {
    /// The layouts of a schema; `None` if a field at any depth has no number.
    pub fn of(schema: &Schema) -> Option<Self> {
        let mut layout = Layout::default();
        let fields = layout.message(At::of(schema))?;
        Some(Self { fields, recursive: layout.recursive })
    }

    /// A message of these fields.
    pub(super) fn flat(fields: Vec<Field>) -> Self {
        Self { fields, recursive: Vec::new() }
    }

    /// The layout of a kind's objects, from its root schema, which does not contain metadata.
    pub fn of_object(root: &Schema) -> Option<Self> {
        let mut message = Self::of(root).filter(|message| !message.fields.is_empty())?;
        if message.fields.iter().any(|field| field.number == METADATA_NUMBER) {
            return None;
        }
        message.fields.insert(0, super::shared::metadata());
        Some(message)
    }

    pub(super) fn field(&self, number: u32) -> Option<&Field> {
        let at = self.fields.binary_search_by_key(&number, |field| field.number).ok()?;
        Some(&self.fields[at])
    }
}

/// The number of `metadata` in every object.
pub(super) const METADATA_NUMBER: u32 = 1;

/// Builds the layout of a message and of the messages in it.
#[derive(Default)]
struct Layout {
    /// Recursive messages that have been started, by their definitions.
    started: Vec<(*const Schema, Weak<Message>)>,
    /// Recursive messages that are complete.
    recursive: Vec<Arc<Message>>,
}

impl Layout {
    /// The fields of a struct.
    fn message(&mut self, at: At<'_>) -> Option<Vec<Field>> {
        if at.kind != Type::Object || at.preserve_unknown || at.entry().is_some() {
            return None;
        }
        let mut fields = Vec::new();
        for (name, property) in at.properties().filter(|(_, property)| property.protobuf != Some(0)) {
            let value = self.value(property)?;
            // Bytes have no zero to write: Go does not distinguish empty from absent bytes.
            let zero_is_absent = property.zero_is_absent && !matches!(value, Value::Bytes);
            let required = at.required.contains(name);
            let field = Field { number: property.protobuf?, name: name.clone(), value, zero_is_absent, required };
            fields.push((property.node().protobuf_parts.as_deref().unwrap_or_default(), field));
        }
        in_parts(fields)
    }

    /// A recursive type; only structs have messages.
    fn recursive_message(&mut self, definition: At<'_>) -> Option<Value> {
        let key = ptr::from_ref(definition.node());
        if let Some((_, started)) = self.started.iter().find(|(other, _)| ptr::eq(*other, key)) {
            return Some(Value::Recursive(started.clone()));
        }
        let mut whole = true;
        let message = Arc::new_cyclic(|message| {
            self.started.push((key, message.clone()));
            let fields = self.message(definition);
            whole = fields.is_some();
            Message::flat(fields.unwrap_or_default())
        });
        let value = Value::Recursive(Arc::downgrade(&message));
        self.recursive.push(message);
        whole.then_some(value)
    }

    fn value(&mut self, at: At<'_>) -> Option<Value> {
        if let Some(definition) = at.leads_to() {
            return self.recursive_message(definition);
        }
        match at.scalar {
            Some(Scalar::MicroTime) => return Some(Value::MicroTime),
            Some(Scalar::Quantity) => return Some(Value::Quantity),
            Some(Scalar::Time | Scalar::Bytes | Scalar::IntOrString) | None => {}
        }
        Some(match (at.kind, at.format.as_deref()) {
            (Type::Boolean, _) => Value::Boolean,
            (Type::Integer, _) => Value::Integer,
            (Type::Number, _) => Value::Double,
            (Type::IntOrString, _) => Value::IntOrString,
            (Type::Any, _) => Value::RawJson,
            (Type::String, Some(RETIRED)) => Value::Retired,
            (Type::String, Some("byte")) => Value::Bytes,
            (Type::String, Some("date-time")) => Value::Time,
            (Type::String, _) => Value::Text,
            (Type::Array, Some(WRAPPED)) => Value::Wrapped(self.list(at)?.into()),
            (Type::Array, _) => self.list(at)?,
            (Type::Object, _) if at.preserve_unknown => Value::RawJson,
            (Type::Object, _) => match at.entry() {
                Some(values) if at.properties().len() == 0 => Value::Map(self.inner(values)?.into()),
                Some(_) => return None,
                None => Value::Message(Message::flat(self.message(at)?).into()),
            },
        })
    }

    fn list(&mut self, at: At<'_>) -> Option<Value> {
        Some(Value::List(self.inner(at.items()?)?.into()))
    }

    /// An item of a list or a value of a map.
    fn inner(&mut self, at: At<'_>) -> Option<Value> {
        Some(match self.value(at)? {
            value @ (Value::List(_) | Value::Map(_)) => Value::Wrapped(value.into()),
            value => value,
        })
    }
}

/// Fields by number, those of parts in the messages of these; `None` if two have the same number.
fn in_parts(all: Vec<(&[u32], Field)>) -> Option<Vec<Field>> {
    let (mut fields, mut parts): (Vec<_>, BTreeMap<u32, Vec<_>>) = (Vec::new(), BTreeMap::new());
    for (path, field) in all {
        match path {
            [] => fields.push(field),
            [part, path @ ..] => parts.entry(*part).or_default().push((path, field)),
        }
    }
    for (number, part) in parts {
        let value = Value::Part(Message::flat(in_parts(part)?).into());
        fields.push(Field { number, name: String::new(), value, zero_is_absent: true, required: false });
    }
    fields.sort_by_key(|field| field.number);
    fields.windows(2).all(|pair| pair[0].number != pair[1].number).then_some(fields)
}

impl Value {
    /// The value of a field that the message omits; `null` if it has none.
    pub(super) fn zero(&self) -> Document {
        match self {
            Self::Boolean => false.into(),
            Self::Integer | Self::Double | Self::IntOrString => 0.into(),
            Self::Text | Self::Bytes => "".into(),
            Self::Quantity => "0".into(),
            Self::Time | Self::MicroTime | Self::RawJson | Self::Retired | Self::Part(_) => Document::Null,
            Self::Message(message) => {
                let mut fields = serde_json::Map::new();
                message.complete(&mut fields);
                Document::Object(fields)
            }
            // The zeros of a recursive type would not end.
            Self::Recursive(_) | Self::Map(_) => Document::Object(serde_json::Map::new()),
            Self::List(_) => Document::Array(Vec::new()),
            Self::Wrapped(inner) => inner.zero(),
        }
    }
}
