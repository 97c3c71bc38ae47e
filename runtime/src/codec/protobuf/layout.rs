//! What messages of a schema look like: fields by number. Made once for a kind, so that nothing is searched or sorted
//! while objects are read and written.
use std::sync::Arc;

use crate::schema::{Document, Schema, model::Type};

/// What a message is made of: fields in the order of their numbers, which is the order in which they are written.
#[derive(Clone, Debug)]
pub struct Message {
    pub(super) fields: Vec<Field>,
}

/// A field of a message.
#[derive(Clone, Debug)]
pub(super) struct Field {
    pub number: u32,
    pub name: String,
    pub value: Value,
    /// Absent and zero mean the same: what is absent is written as zero, and a zero that is read is absent.
    pub zero_is_absent: bool,
    /// Documents have the field, so an empty list or map, of which nothing is on the wire, is put back.
    pub required: bool,
}

/// What a field holds.
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
    /// A message whose first field holds JSON text.
    RawJson,
    Message(Arc<Message>),
    List(Box<Value>),
    Map(Box<Value>),
    /// Text that only old clients know (`selfLink`): written empty, and not read.
    Retired,
    /// A list or map inside a list or map, of which Protobuf has none: a message whose first field it is.
    Wrapped(Box<Value>),
}

/// The format of text that is written empty and not read.
pub(super) const RETIRED: &str = "retired";
/// The format of a list that is a message of its own, whose first field has the items.
pub(super) const WRAPPED: &str = "wrapped";

impl Message {
    /// The messages of a schema; `None` where a field, at whatever depth, has no number of its own.
    pub fn of(schema: &Schema) -> Option<Self> {
        if schema.kind != Type::Object || schema.preserve_unknown || schema.additional.is_some() {
            return None;
        }
        let field = |(name, property): (&String, &Schema)| {
            let value = Value::of(property)?;
            // Of bytes there is no zero: Go tells no bytes from none.
            let zero_is_absent = property.zero_is_absent && !matches!(value, Value::Bytes);
            let required = schema.required.contains(name);
            Some(Field { number: property.protobuf?, name: name.clone(), value, zero_is_absent, required })
        };
        let mut fields = schema.properties.iter().map(field).collect::<Option<Vec<_>>>()?;
        fields.sort_by_key(|field| field.number);
        let distinct = fields.windows(2).all(|pair| pair[0].number != pair[1].number);
        distinct.then_some(Self { fields })
    }

    /// The messages of a kind's objects, by its root schema, in which metadata is not.
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

impl Value {
    fn of(schema: &Schema) -> Option<Self> {
        Some(match (schema.kind, schema.format.as_deref()) {
            (Type::Boolean, _) => Self::Boolean,
            (Type::Integer, _) => Self::Integer,
            (Type::Number, _) => Self::Double,
            (Type::IntOrString, _) => Self::IntOrString,
            (Type::Any, _) => Self::RawJson,
            (Type::String, Some(RETIRED)) => Self::Retired,
            (Type::String, Some("byte")) => Self::Bytes,
            (Type::String, Some("date-time")) => Self::Time,
            (Type::String, Some("micro-time")) => Self::MicroTime,
            (Type::String, Some("quantity")) => Self::Quantity,
            (Type::String, _) => Self::Text,
            (Type::Array, Some(WRAPPED)) => Self::Wrapped(Self::list(schema)?.into()),
            (Type::Array, _) => Self::list(schema)?,
            (Type::Object, _) if schema.preserve_unknown => Self::RawJson,
            (Type::Object, _) => match &schema.additional {
                Some(values) if schema.properties.is_empty() => Self::Map(Self::inner(values)?.into()),
                Some(_) => return None,
                None => Self::Message(Message::of(schema)?.into()),
            },
        })
    }

    fn list(schema: &Schema) -> Option<Self> {
        Some(Self::List(Self::inner(schema.items.as_deref()?)?.into()))
    }

    /// An item of a list or a value of a map.
    fn inner(schema: &Schema) -> Option<Self> {
        Some(match Self::of(schema)? {
            value @ (Self::List(_) | Self::Map(_)) => Self::Wrapped(value.into()),
            value => value,
        })
    }

    /// What the value is where the message leaves it out; `null` where there is no such value.
    pub fn zero(&self) -> Document {
        match self {
            Self::Boolean => false.into(),
            Self::Integer | Self::Double | Self::IntOrString => 0.into(),
            Self::Text | Self::Bytes => "".into(),
            Self::Quantity => "0".into(),
            Self::Time | Self::MicroTime | Self::RawJson | Self::Retired => Document::Null,
            Self::Message(message) => {
                let mut fields = serde_json::Map::new();
                message.complete(&mut fields);
                Document::Object(fields)
            }
            Self::Map(_) => Document::Object(serde_json::Map::new()),
            Self::List(_) => Document::Array(Vec::new()),
            Self::Wrapped(inner) => inner.zero(),
        }
    }
}
